#include "kernels/add/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<AddArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(add_range)};

}  // namespace

void run_add(const CpuContext& context, const AddArgs& args) {
  run_kernel<AddArgs>(context, kRows, args, args.n, kElementsPerTask);
}

}  // namespace lockstep
