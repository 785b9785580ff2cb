#include "kernels/moe_route/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<MoeRouteArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(moe_route_rows)};

}  // namespace

ShapeClass shape_class(const MoeRouteArgs& args) {
  return {.op = "moe_route", .dims = {{"experts", args.experts}, {"chosen", args.chosen}}};
}

std::vector<KernelInfo> moe_route_kernels() { return kernel_infos(kRows); }

void run_moe_route(const CpuContext& context, const MoeRouteArgs& args) {
  run_kernel<MoeRouteArgs>(context, kRows, args, args.rows, rows_per_task(args.experts));
}

}  // namespace lockstep
