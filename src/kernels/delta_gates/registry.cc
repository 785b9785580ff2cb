#include "kernels/delta_gates/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<DeltaGatesArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(delta_gates_rows)};

}  // namespace

ShapeClass shape_class(const DeltaGatesArgs& args) {
  return {.op = "delta_gates", .dims = {{"heads", args.heads}}};
}

std::vector<KernelInfo> delta_gates_kernels() { return kernel_infos(kRows); }

void run_delta_gates(const CpuContext& context, const DeltaGatesArgs& args) {
  run_kernel<DeltaGatesArgs>(context, kRows, args, args.rows, rows_per_task(args.heads));
}

}  // namespace lockstep
