#include "kernels/attention/cpu.h"

#include <limits>

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Register tile: queries by keys, and queries by vectors of the head. Results do not depend on it.
constexpr int kQueries = 4;
#if defined(LOCKSTEP_ISA_AVX512) || defined(LOCKSTEP_ISA_NEON)
constexpr int kKeys = 4;
constexpr int kVectors = 4;
#else
constexpr int kKeys = 1;
constexpr int kVectors = 1;
#endif

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

template <KvType kType>
F32x16 load_kv(const std::byte* row, int64_t element) {
  if constexpr (kType == KvType::kBf16) return F32x16::load_bf16(row + 2 * element);
  return F32x16::load(row + 4 * element);
}

// The keys and values of one head in one group, as far as its blocks are used.
struct GroupView {
  const std::byte* keys[kAttentionGroup / kKvBlock];
  const std::byte* values[kAttentionGroup / kKvBlock];
  int64_t row_bytes;

  const std::byte* key(int64_t j) const { return keys[j / kKvBlock] + j % kKvBlock * row_bytes; }
  const std::byte* value(int64_t j) const {
    return values[j / kKvBlock] + j % kKvBlock * row_bytes;
  }
};

GroupView view_group(const AttentionArgs& args, const AttentionTile& tile, int64_t group,
                     int64_t keys) {
  GroupView view{};
  view.row_bytes = args.shape.head_dim * static_cast<int64_t>(args.shape.element_bytes());
  for (int64_t b = 0; b * kKvBlock < keys; ++b) {
    const std::byte* block = tile.sequence->blocks[group * (kAttentionGroup / kKvBlock) + b];
    view.keys[b] = block + tile.kv_head * kKvBlock * view.row_bytes;
    view.values[b] = view.keys[b] + args.shape.half_block_bytes();
  }
  return view;
}

// Offset in q and out of a query's head.
int64_t head_offset(const AttentionArgs& args, const AttentionTile& tile, int64_t query) {
  const int64_t per_kv_head = args.heads / args.shape.kv_heads;
  const int64_t index = tile.first_query + query;
  const int64_t row = tile.sequence->first_row + index / per_kv_head;
  const int64_t head = tile.kv_head * per_kv_head + index % per_kv_head;
  return (row * args.heads + head) * args.shape.head_dim;
}

template <int kCount>
void reduce_all(const F32x16 (&sums)[kCount], float (&out)[kCount]) {
  constexpr int kFours = kCount / 4 * 4;
#pragma GCC unroll 4
  for (int i = 0; i < kFours; i += 4) {
    reduce_add_4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3], out + i);
  }
#pragma GCC unroll 4
  for (int i = kFours; i < kCount; ++i) out[i] = reduce_add(sums[i]);
}

// scores[i][j] = dot(q_i, k_j) for kCount queries and the first `keys` keys.
template <KvType kType, int kCount>
void score(const GroupView& view, const float* const* q, int64_t head_dim, int64_t keys,
           float (*scores)[kAttentionGroup]) {
  for (int64_t j = 0; j < keys; j += kKeys) {
    const std::byte* rows[kKeys];
    for (int t = 0; t < kKeys; ++t) rows[t] = view.key(j + t < keys ? j + t : keys - 1);
    F32x16 sums[kCount * kKeys] = {};
    for (int64_t d = 0; d < head_dim; d += kLanes) {
      F32x16 k[kKeys];
#pragma GCC unroll 4
      for (int t = 0; t < kKeys; ++t) k[t] = load_kv<kType>(rows[t], d);
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const F32x16 x = F32x16::load(q[i] + d);
#pragma GCC unroll 4
        for (int t = 0; t < kKeys; ++t) sums[i * kKeys + t] = fma(x, k[t], sums[i * kKeys + t]);
      }
    }
    float dots[kCount * kKeys];
    reduce_all(sums, dots);
    for (int i = 0; i < kCount; ++i) {
      for (int t = 0; t < kKeys; ++t) scores[i][j + t] = dots[i * kKeys + t];
    }
  }
}

// Turns the first `keys` dot products into exp(s - m), s = dot * scale, followed by zeros up to a
// multiple of 16.
void exponentiate(float* scores, int64_t keys, float scale, float* maximum, float* sum) {
  for (int64_t j = keys; j % kLanes != 0; ++j) scores[j] = kMinusInfinity;
  F32x16 largest = F32x16::splat(kMinusInfinity);
  for (int64_t j = 0; j < keys; j += kLanes) {
    const F32x16 s = F32x16::load(scores + j) * F32x16::splat(scale);
    s.store(scores + j);
    largest = max(largest, s);
  }
  *maximum = reduce_max(largest);
  const F32x16 m = F32x16::splat(*maximum);
  F32x16 total = F32x16::zero();
  for (int64_t j = 0; j < keys; j += kLanes) {
    F32x16 p = exp(F32x16::load(scores + j) - m);
    if (keys - j < kLanes) {
      p.store(scores + j);
      p = load_partial(scores + j, keys - j);
    }
    p.store(scores + j);
    total = total + p;
  }
  *sum = reduce_add(total);
}

// out_i[d..] continues (from zero if begin is 0) with the fma chain of p_ij v_j over [begin, end).
template <KvType kType, int kCount, int kWidth>
void weigh(const GroupView& view, const float (*p)[kAttentionGroup], int64_t begin, int64_t end,
           int64_t d, float* const* out) {
  F32x16 sums[kCount][kWidth];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kWidth; ++c) {
      sums[i][c] = begin == 0 ? F32x16::zero() : F32x16::load(out[i] + d + c * kLanes);
    }
  }
  for (int64_t j = begin; j < end;) {
    const int64_t block_end = std::min(end, (j / kKvBlock + 1) * kKvBlock);
    for (const std::byte* row = view.value(j); j < block_end; ++j, row += view.row_bytes) {
      F32x16 v[kWidth];
#pragma GCC unroll 4
      for (int c = 0; c < kWidth; ++c) v[c] = load_kv<kType>(row, d + c * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const F32x16 weight = F32x16::splat(p[i][j]);
#pragma GCC unroll 4
        for (int c = 0; c < kWidth; ++c) sums[i][c] = fma(weight, v[c], sums[i][c]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kWidth; ++c) sums[i][c].store(out[i] + d + c * kLanes);
  }
}

template <KvType kType, int kCount>
void weigh_head(const GroupView& view, const float (*p)[kAttentionGroup], int64_t begin,
                int64_t end, int64_t head_dim, float* const* out) {
  int64_t d = 0;
  for (; d + kVectors * kLanes <= head_dim; d += kVectors * kLanes) {
    weigh<kType, kCount, kVectors>(view, p, begin, end, d, out);
  }
  for (; d < head_dim; d += kLanes) weigh<kType, kCount, 1>(view, p, begin, end, d, out);
}

// kCount neighbouring queries of a tile; the first sees the fewest keys.
template <KvType kType, int kCount>
void attend(const AttentionArgs& args, const AttentionTile& tile, int64_t group, int64_t first,
            const GroupView& view, const AttentionPartial& partial) {
  alignas(64) float scores[kCount][kAttentionGroup];
  const float* q[kCount];
  float* out[kCount];
  int64_t keys[kCount];
  for (int i = 0; i < kCount; ++i) {
    q[i] = args.q + head_offset(args, tile, first + i);
    out[i] = partial.output + (first + i) * args.shape.head_dim;
    keys[i] = visible_keys(args, tile, first + i, group);
  }
  score<kType, kCount>(view, q, args.shape.head_dim, keys[kCount - 1], scores);
  for (int i = 0; i < kCount; ++i) {
    exponentiate(scores[i], keys[i], args.scale, partial.maximum + first + i,
                 partial.sum + first + i);
  }
  weigh_head<kType, kCount>(view, scores, 0, keys[0], args.shape.head_dim, out);
  for (int i = 1; i < kCount; ++i) {
    if (keys[i] == keys[0]) continue;
    weigh_head<kType, 1>(view, scores + i, keys[0], keys[i], args.shape.head_dim, out + i);
  }
}

template <KvType kType>
void attend_group(const AttentionArgs& args, const AttentionTile& tile, int64_t group,
                  const AttentionPartial& partial) {
  const GroupView view =
      view_group(args, tile, group, visible_keys(args, tile, tile.queries - 1, group));
  int64_t query = 0;
  while (query < tile.queries && visible_keys(args, tile, query, group) <= 0) ++query;
  for (; query + kQueries <= tile.queries; query += kQueries) {
    attend<kType, kQueries>(args, tile, group, query, view, partial);
  }
  for (; query + 2 <= tile.queries; query += 2) {
    attend<kType, 2>(args, tile, group, query, view, partial);
  }
  for (; query < tile.queries; ++query) attend<kType, 1>(args, tile, group, query, view, partial);
}

}  // namespace

void attention_group(const AttentionArgs& args, const AttentionTile& tile, int64_t group,
                     const AttentionPartial& partial) {
  if (args.shape.type == KvType::kBf16) {
    attend_group<KvType::kBf16>(args, tile, group, partial);
  } else {
    attend_group<KvType::kF32>(args, tile, group, partial);
  }
}

void attention_merge(const AttentionArgs& args, const AttentionTile& tile, int64_t group,
                     const AttentionPartial& partial, const AttentionPartial& running) {
  for (int64_t query = 0; query < tile.queries; ++query) {
    if (visible_keys(args, tile, query, group) <= 0) continue;
    const float before = group == 0 ? kMinusInfinity : running.maximum[query];
    const float maximum = before > partial.maximum[query] ? before : partial.maximum[query];
    const F32x16 a = exp(F32x16::splat(before) - F32x16::splat(maximum));
    const F32x16 b = exp(F32x16::splat(partial.maximum[query]) - F32x16::splat(maximum));
    const F32x16 sum = group == 0 ? F32x16::zero() : F32x16::splat(running.sum[query]);
    float merged_sum[kLanes];
    fma(sum, a, F32x16::splat(partial.sum[query]) * b).store(merged_sum);
    running.maximum[query] = maximum;
    running.sum[query] = merged_sum[0];
    const float* from = partial.output + query * args.shape.head_dim;
    float* out = args.out + head_offset(args, tile, query);
    for (int64_t d = 0; d < args.shape.head_dim; d += kLanes) {
      const F32x16 o = group == 0 ? F32x16::zero() : F32x16::load(out + d);
      fma(o, a, F32x16::load(from + d) * b).store(out + d);
    }
  }
}

void attention_finish(const AttentionArgs& args, const AttentionTile& tile,
                      const AttentionPartial& running) {
  for (int64_t query = 0; query < tile.queries; ++query) {
    float* out = args.out + head_offset(args, tile, query);
    const F32x16 sum = F32x16::splat(running.sum[query]);
    for (int64_t d = 0; d < args.shape.head_dim; d += kLanes) {
      (F32x16::load(out + d) / sum).store(out + d);
    }
  }
}

void attention_tile(const AttentionArgs& args, const AttentionTile& tile) {
  alignas(64) float outputs[kAttentionTile * kMaxHeadDim];
  float maxima[2][kAttentionTile], sums[2][kAttentionTile];
  const AttentionPartial partial{maxima[0], sums[0], outputs};
  const AttentionPartial running{maxima[1], sums[1], nullptr};
  for (int64_t group = 0; group < group_count(args, tile); ++group) {
    attention_group(args, tile, group, partial);
    attention_merge(args, tile, group, partial, running);
  }
  attention_finish(args, tile, running);
}

}  // namespace lockstep::LOCKSTEP_ISA
