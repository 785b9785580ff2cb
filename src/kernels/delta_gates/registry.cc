#include "kernels/delta_gates/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<DeltaGatesArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(delta_gates_rows)};

}  // namespace

void run_delta_gates(const CpuContext& context, const DeltaGatesArgs& args) {
  run_kernel<DeltaGatesArgs>(context, kRows, args, args.rows, rows_per_task(args.heads));
}

}  // namespace lockstep
