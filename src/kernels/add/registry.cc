#include "kernels/add/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<AddArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(add_range)};

}  // namespace

ShapeClass shape_class(const AddArgs& args) { return {.op = "add", .dims = {{"n", args.n}}}; }

std::vector<KernelInfo> add_kernels() { return kernel_infos(kRows); }

void run_add(const CpuContext& context, const AddArgs& args) {
  run_kernel<AddArgs>(context, kRows, args, args.rows * args.n, kElementsPerTask);
}

}  // namespace lockstep
