#pragma once

#include "kernels/attention/attention.h"
#include "kernels/registry.h"

namespace lockstep {

// A tile is up to 32 queries of one sequence that read the same KV head: query i of a sequence and
// KV head is head i mod G (of the G = Nq / Nkv heads) of row i / G. So the rows of a tile ascend,
// and so do the numbers of keys that they see.
inline constexpr int64_t kAttentionTile = 32;
inline constexpr int64_t kMaxHeadDim = 256;

struct AttentionTile {
  const KvSequence* sequence = nullptr;
  int64_t kv_head = 0;
  int64_t first_query = 0;
  int64_t queries = 0;
};

// One result per query of a tile over a group of keys, or over all groups so far.
struct AttentionPartial {
  float* maximum = nullptr;  // m, [queries]
  float* sum = nullptr;      // l, [queries]
  float* output = nullptr;   // o, [queries, Dh]; of the running result it lies in args.out instead
};

// Keys of `group` that query i of the tile sees; not positive if it sees none.
inline int64_t visible_keys(const AttentionArgs& args, const AttentionTile& tile, int64_t query,
                            int64_t group) {
  const int64_t row = (tile.first_query + query) / (args.heads / args.shape.kv_heads);
  const int64_t keys = tile.sequence->first_position + row + 1 - group * kAttentionGroup;
  return keys < kAttentionGroup ? keys : kAttentionGroup;
}

inline int64_t group_count(const AttentionArgs& args, const AttentionTile& tile) {
  const int64_t row = (tile.first_query + tile.queries - 1) / (args.heads / args.shape.kv_heads);
  return (tile.sequence->first_position + row) / kAttentionGroup + 1;
}

}  // namespace lockstep

// attention_tile: all groups of the tile, results into args.out.
// The same in steps, for groups that several threads compute: attention_group fills `partial`,
// attention_merge adds it to the running result (group 0 starts it), attention_finish divides.
LOCKSTEP_DECLARE_PER_ISA(void attention_tile(const AttentionArgs& args, const AttentionTile& tile);
                         void attention_group(const AttentionArgs& args, const AttentionTile& tile,
                                              int64_t group, const AttentionPartial& partial);
                         void attention_merge(const AttentionArgs& args, const AttentionTile& tile,
                                              int64_t group, const AttentionPartial& partial,
                                              const AttentionPartial& running);
                         void attention_finish(const AttentionArgs& args, const AttentionTile& tile,
                                               const AttentionPartial& running))
