#include "kernels/parallel.h"
#include "kernels/rms_norm/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<RmsNormArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(rms_norm_rows)};
constexpr KernelRow<RangeKernel<RmsNormGatedArgs>> kGatedRows[] = {
    LOCKSTEP_KERNEL_ROWS(rms_norm_gated_rows)};

}  // namespace

void run_rms_norm(const CpuContext& context, const RmsNormArgs& args) {
  run_kernel<RmsNormArgs>(context, kRows, args, args.rows, rows_per_task(args.n));
}

void run_rms_norm_gated(const CpuContext& context, const RmsNormGatedArgs& args) {
  run_kernel<RmsNormGatedArgs>(context, kGatedRows, args, args.rows, rows_per_task(args.n));
}

}  // namespace lockstep
