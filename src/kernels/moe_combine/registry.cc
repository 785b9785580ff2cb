#include "kernels/moe_combine/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<MoeCombineArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(moe_combine_rows)};

}  // namespace

ShapeClass shape_class(const MoeCombineArgs& args) {
  return {.op = "moe_combine", .dims = {{"chosen", args.chosen}, {"n", args.n}}};
}

std::vector<KernelInfo> moe_combine_kernels() { return kernel_infos(kRows); }

void run_moe_combine(const CpuContext& context, const MoeCombineArgs& args) {
  run_kernel<MoeCombineArgs>(context, kRows, args, args.rows, rows_per_task(args.chosen * args.n));
}

}  // namespace lockstep
