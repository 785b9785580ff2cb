#include "kernels/parallel.h"
#include "kernels/sigmoid_mul/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<SigmoidMulArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(sigmoid_mul_rows)};

}  // namespace

ShapeClass shape_class(const SigmoidMulArgs& args) {
  return {.op = "sigmoid_mul", .dims = {{"n", args.n}, {"gate_stride", args.gate_stride}}};
}

std::vector<KernelInfo> sigmoid_mul_kernels() { return kernel_infos(kRows); }

void run_sigmoid_mul(const CpuContext& context, const SigmoidMulArgs& args) {
  run_kernel<SigmoidMulArgs>(context, kRows, args, args.rows, rows_per_task(args.n));
}

}  // namespace lockstep
