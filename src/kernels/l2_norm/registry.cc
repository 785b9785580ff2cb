#include "kernels/l2_norm/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<L2NormArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(l2_norm_rows)};

}  // namespace

ShapeClass shape_class(const L2NormArgs& args) {
  return {.op = "l2_norm", .dims = {{"heads", args.heads}, {"n", args.n}, {"stride", args.stride}}};
}

std::vector<KernelInfo> l2_norm_kernels() { return kernel_infos(kRows); }

void run_l2_norm(const CpuContext& context, const L2NormArgs& args) {
  run_kernel<L2NormArgs>(context, kRows, args, args.rows, rows_per_task(args.heads * args.n));
}

}  // namespace lockstep
