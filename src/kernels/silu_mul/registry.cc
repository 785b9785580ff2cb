#include "kernels/parallel.h"
#include "kernels/silu_mul/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<SiluMulArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(silu_mul_range)};

}  // namespace

void run_silu_mul(const CpuContext& context, const SiluMulArgs& args) {
  run_kernel<SiluMulArgs>(context, kRows, args, args.rows * args.n, kElementsPerTask / 4);
}

}  // namespace lockstep
