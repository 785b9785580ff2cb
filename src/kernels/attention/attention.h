// attention: causal softmax attention of each row over the stored keys and values of its own
// sequence, positions 0..p of a row at position p (kv_store has written the round's rows already).
// Query head h reads KV head h / (Nq / Nkv).
//
// Reduction order (docs/numerics.md, rule 15). Keys are visited in groups of 256 from position 0,
// whatever the rows, streams or threads. Per query head and group, over its keys j <= p, float32:
//   s_j = dot(q, k_j) * scale        16 lanes by fma over Dh, tree 16-8-4-2-1, then one
//   multiplication m_g = max s_j                    max(a, b) = a > b ? a : b, from -infinity, j
//   ascending p_j = exp(s_j - m_g)             not rounded further l_g = sum p_j 16 lanes, key j in
//   lane j mod 16, ascending, tree o_g[d] = sum p_j v_j[d]          one fma chain per d from +0, j
//   ascending
// Groups merge left to right into (m, l, o), which starts at (-infinity, 0, 0), also when there is
// one:
//   m' = max(m, m_g), a = exp(m - m'), b = exp(m_g - m'), l = fma(l, a, l_g * b), o = fma(o, a, o_g
//   * b).
// The result is o / l. Keys beyond p are not read, so their contents never matter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu_context.h"
#include "kernels/kv_store/kv_store.h"

namespace lockstep {

inline constexpr int64_t kAttentionGroup = 256;

struct AttentionArgs {
  KvShape shape;
  int64_t heads = 0;         // Nq, a multiple of Nkv
  float scale = 0.0f;        // Dh^(-1/2)
  const float* q = nullptr;  // [rows, Nq, Dh], after norm and rotation
  const KvSequence* sequences = nullptr;
  int64_t sequence_count = 0;
  float* out = nullptr;  // [rows, Nq, Dh]
};

void run_attention(const CpuContext& context, const AttentionArgs& args);

}  // namespace lockstep
