#include "kernels/kv_store/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

using Rows = void(const KvStoreArgs&, const KvSequence&, int64_t, int64_t);
constexpr KernelRow<Rows> kRows[] = {LOCKSTEP_KERNEL_ROWS(kv_store_rows)};

}  // namespace

ShapeClass kv_class(std::string op, const KvShape& shape) {
  return {.op = std::move(op),
          .dims = {{".type", static_cast<int64_t>(shape.type)},
                   {"kv_heads", shape.kv_heads},
                   {"head_dim", shape.head_dim}},
          .label = shape.type == KvType::kBf16 ? "bf16 cache" : "f32 cache"};
}

ShapeClass shape_class(const KvStoreArgs& args) { return kv_class("kv_store", args.shape); }

std::vector<KernelInfo> kv_store_kernels() { return kernel_infos(kRows); }

void run_kv_store(const CpuContext& context, const KvStoreArgs& args) {
  LOCKSTEP_CHECK(args.shape.head_dim % 16 == 0, "kv_store needs head_dim in multiples of 16");
  const auto& kernel = pick_kernel(context, kRows, args);
  const int64_t step = rows_per_task(args.shape.kv_heads * args.shape.head_dim);
  run_sequences(
      context, args.sequences, args.sequence_count,
      [&](const KvSequence& sequence) { return ceil_div(sequence.rows, step); },
      [&](const KvSequence& sequence, int64_t task) {
        kernel.function(args, sequence, task * step, std::min(sequence.rows, (task + 1) * step));
      });
}

}  // namespace lockstep
