#include "kernels/parallel.h"
#include "kernels/silu_mul/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<SiluMulArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(silu_mul_range)};

}  // namespace

ShapeClass shape_class(const SiluMulArgs& args) {
  return {.op = "silu_mul", .dims = {{"n", args.n}}};
}

std::vector<KernelInfo> silu_mul_kernels() { return kernel_infos(kRows); }

void run_silu_mul(const CpuContext& context, const SiluMulArgs& args) {
  run_kernel<SiluMulArgs>(context, kRows, args, args.rows * args.n, kElementsPerTask / 4);
}

}  // namespace lockstep
