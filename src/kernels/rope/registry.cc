#include "kernels/parallel.h"
#include "kernels/rope/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<RopeArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(rope_rows)};

}  // namespace

void run_rope(const CpuContext& context, const RopeArgs& args) {
  run_kernel<RopeArgs>(context, kRows, args, args.rows,
                       rows_per_task(args.heads * args.rotary_dim));
}

}  // namespace lockstep
