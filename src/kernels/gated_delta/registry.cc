#include "kernels/gated_delta/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

using Columns = void(const GatedDeltaArgs&, const DeltaSequence&, int64_t, int64_t, int64_t);
constexpr KernelRow<Columns> kRows[] = {LOCKSTEP_KERNEL_ROWS(gated_delta_columns)};

}  // namespace

ShapeClass shape_class(const GatedDeltaArgs& args) {
  return {.op = "gated_delta",
          .dims = {{"key_heads", args.key_heads},
                   {"value_heads", args.value_heads},
                   {"key_dim", args.key_dim},
                   {"value_dim", args.value_dim}}};
}

std::vector<KernelInfo> gated_delta_kernels() { return kernel_infos(kRows); }

void run_gated_delta(const CpuContext& context, const GatedDeltaArgs& args) {
  LOCKSTEP_CHECK(args.value_dim % 16 == 0, "gated_delta needs value_dim in multiples of 16");
  LOCKSTEP_CHECK(args.value_heads % args.key_heads == 0, "value heads must share key heads evenly");
  const auto& kernel = pick_kernel(context, kRows, args);
  const int64_t blocks = ceil_div(args.value_dim, kDeltaColumns);
  run_sequences(
      context, args.sequences, args.sequence_count,
      [&](const DeltaSequence&) { return args.value_heads * blocks; },
      [&](const DeltaSequence& sequence, int64_t task) {
        const int64_t column = task % blocks * kDeltaColumns;
        kernel.function(args, sequence, task / blocks, column,
                        std::min(kDeltaColumns, args.value_dim - column));
      });
}

}  // namespace lockstep
