#include "kernels/parallel.h"
#include "kernels/rope/cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<RopeArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(rope_rows)};

}  // namespace

ShapeClass shape_class(const RopeArgs& args) {
  return {.op = "rope",
          .dims = {
              {"heads", args.heads}, {"head_dim", args.head_dim}, {"rotary_dim", args.rotary_dim}}};
}

std::vector<KernelInfo> rope_kernels() { return kernel_infos(kRows); }

void run_rope(const CpuContext& context, const RopeArgs& args) {
  run_kernel<RopeArgs>(context, kRows, args, args.rows,
                       rows_per_task(args.heads * args.rotary_dim));
}

}  // namespace lockstep
