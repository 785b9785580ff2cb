#include "kernels/parallel.h"
#include "kernels/rms_norm/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<RmsNormArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(rms_norm_rows)};
constexpr KernelRow<RangeKernel<RmsNormGatedArgs>> kGatedRows[] = {
    LOCKSTEP_KERNEL_ROWS(rms_norm_gated_rows)};

}  // namespace

ShapeClass shape_class(const RmsNormArgs& args) {
  return {.op = "rms_norm", .dims = {{"n", args.n}, {"x_stride", args.x_stride}}};
}

ShapeClass shape_class(const RmsNormGatedArgs& args) {
  const bool silu = args.function == GateFunction::kSilu;
  return {.op = "rms_norm_gated",
          .dims = {{".function", static_cast<int64_t>(args.function)}, {"n", args.n}},
          .label = silu ? "silu" : "sigmoid"};
}

std::vector<KernelInfo> rms_norm_kernels() { return kernel_infos(kRows); }
std::vector<KernelInfo> rms_norm_gated_kernels() { return kernel_infos(kGatedRows); }

void run_rms_norm(const CpuContext& context, const RmsNormArgs& args) {
  run_kernel<RmsNormArgs>(context, kRows, args, args.rows, rows_per_task(args.n));
}

void run_rms_norm_gated(const CpuContext& context, const RmsNormGatedArgs& args) {
  run_kernel<RmsNormGatedArgs>(context, kGatedRows, args, args.rows, rows_per_task(args.n));
}

}  // namespace lockstep
