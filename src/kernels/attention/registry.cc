#include <algorithm>

#include "kernels/attention/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

constexpr KernelRow<decltype(scalar::attention_tile)> kTileRows[] = {
    LOCKSTEP_KERNEL_ROWS(attention_tile)};
constexpr KernelRow<decltype(scalar::attention_group)> kGroupRows[] = {
    LOCKSTEP_KERNEL_ROWS(attention_group)};
constexpr KernelRow<decltype(scalar::attention_merge)> kMergeRows[] = {
    LOCKSTEP_KERNEL_ROWS(attention_merge)};
constexpr KernelRow<decltype(scalar::attention_finish)> kFinishRows[] = {
    LOCKSTEP_KERNEL_ROWS(attention_finish)};

// Partial results that the workspace holds at a time.
constexpr int64_t kSlots = 128;

int64_t tiles_per_kv_head(const AttentionArgs& args, const KvSequence& sequence) {
  return ceil_div(sequence.rows * (args.heads / args.shape.kv_heads), kAttentionTile);
}

int64_t tile_count(const AttentionArgs& args, const KvSequence& sequence) {
  return args.shape.kv_heads * tiles_per_kv_head(args, sequence);
}

AttentionTile tile_at(const AttentionArgs& args, const KvSequence& sequence, int64_t index) {
  const int64_t per_kv_head = tiles_per_kv_head(args, sequence);
  const int64_t first = index % per_kv_head * kAttentionTile;
  const int64_t queries = sequence.rows * (args.heads / args.shape.kv_heads);
  return {.sequence = &sequence,
          .kv_head = index / per_kv_head,
          .first_query = first,
          .queries = std::min(kAttentionTile, queries - first)};
}

// Slot `slot` of the workspace: maxima, sums and outputs of a tile.
AttentionPartial slot_at(const AttentionArgs& args, int64_t slot) {
  float* base = args.workspace + slot * kAttentionTile * (2 + args.shape.head_dim);
  return {base, base + kAttentionTile, base + 2 * kAttentionTile};
}

// Few tiles with many keys: the groups of a tile are spread over the threads in waves, and merged
// in order after each wave.
void run_split(const CpuContext& context, const AttentionArgs& args, int64_t tiles) {
  const auto& group_kernel = pick_kernel(context, kGroupRows, args);
  const auto& merge_kernel = pick_kernel(context, kMergeRows, args);
  const auto& finish_kernel = pick_kernel(context, kFinishRows, args);
  AttentionTile tile[kSlots];
  int64_t groups = 0;
  for (int64_t s = 0, t = 0; s < args.sequence_count; ++s) {
    for (int64_t i = 0; i < tile_count(args, args.sequences[s]); ++i, ++t) {
      tile[t] = tile_at(args, args.sequences[s], i);
      groups = std::max(groups, group_count(args, tile[t]));
    }
  }
  const int64_t wave = kSlots / tiles - 1;  // one slot of each tile holds the running result
  for (int64_t first = 0; first < groups; first += wave) {
    const int64_t width = std::min(wave, groups - first);
    context.pool.run(tiles * width, [&](int64_t task, int) {
      const int64_t t = task / width, group = first + task % width;
      if (group >= group_count(args, tile[t])) return;
      group_kernel.function(args, tile[t], group, slot_at(args, tiles + task));
    });
    context.pool.run(tiles, [&](int64_t t, int) {
      const int64_t end = std::min(first + width, group_count(args, tile[t]));
      for (int64_t group = first; group < end; ++group) {
        merge_kernel.function(args, tile[t], group,
                              slot_at(args, tiles + t * width + group - first), slot_at(args, t));
      }
      if (first + width >= groups) finish_kernel.function(args, tile[t], slot_at(args, t));
    });
  }
}

}  // namespace

ShapeClass shape_class(const AttentionArgs& args) {
  ShapeClass shape = kv_class("attention", args.shape);
  shape.dims.emplace_back("heads", args.heads);
  return shape;
}

std::vector<KernelInfo> attention_kernels() {
  return kernel_infos(kTileRows, kGroupRows, kMergeRows, kFinishRows);
}

int64_t attention_workspace(const KvShape& shape) {
  return kSlots * kAttentionTile * (2 + shape.head_dim);
}

void run_attention(const CpuContext& context, const AttentionArgs& args) {
  LOCKSTEP_CHECK(args.shape.head_dim % 16 == 0 && args.shape.head_dim <= kMaxHeadDim,
                 "attention needs head_dim in multiples of 16 up to 256");
  LOCKSTEP_CHECK(args.heads % args.shape.kv_heads == 0, "query heads must share KV heads evenly");
  int64_t tiles = 0, longest = 0;
  for (int64_t s = 0; s < args.sequence_count; ++s) {
    const KvSequence& sequence = args.sequences[s];
    tiles += tile_count(args, sequence);
    longest = std::max(longest, sequence.first_position + sequence.rows);
  }
  const bool few_tiles = tiles < 4 * context.pool.threads() && tiles <= kSlots / 4;
  if (args.workspace != nullptr && context.pool.threads() > 1 && few_tiles &&
      longest > kAttentionGroup) {
    run_split(context, args, tiles);
    return;
  }
  const auto& kernel = pick_kernel(context, kTileRows, args);
  run_sequences(
      context, args.sequences, args.sequence_count,
      [&](const KvSequence& sequence) { return tile_count(args, sequence); },
      [&](const KvSequence& sequence, int64_t task) {
        kernel.function(args, tile_at(args, sequence, task));
      });
}

}  // namespace lockstep
