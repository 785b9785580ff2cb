// attention: causal softmax attention of each row over the stored keys and values of its own
// sequence, positions 0..p of a row at position p (kv_store has written the round's rows already).
// Query head h reads KV head h / (Nq / Nkv).
//
// Reduction order (docs/numerics.md, rule 15). Keys are visited in groups of 256 from position 0,
// whatever the rows, streams or threads. Per query head and group, over its keys j <= p, float32:
//   s_j    = dot(q, k_j) * scale   16 lanes by fma over Dh, tree 16-8-4-2-1, one multiplication
//   m_g    = max s_j               in any order: it has no rounding, and a NaN spoils the row
//   anyway p_j    = exp(s_j - m_g)        not rounded further l_g    = sum p_j               16
//   lanes, key j in lane j mod 16, ascending, then the tree o_g[d] = sum p_j v_j[d]        one fma
//   chain per d from +0, j ascending
// Groups merge left to right into (m, l, o), which starts at (-infinity, 0, 0), also when there is
// one:
//   m' = max(m, m_g), a = exp(m - m'), b = exp(m_g - m'), l = fma(l, a, l_g * b),
//   o = fma(o, a, o_g * b)
// The result is o / l. What stands beyond p never matters, NaN included.
//
// Non-finite values: a score of NaN or +infinity makes the row NaN. A score of minus infinity has
// weight 0, unless a whole group has it: then the row is NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/kv_store/kv_store.h"
#include "kernels/rounding.h"

namespace lockstep {

inline constexpr int64_t kAttentionGroup = 256;

struct AttentionArgs {
  KvShape shape;
  int64_t heads = 0;         // Nq, a multiple of Nkv; Dh is a multiple of 16, at most 256
  float scale = 0.0f;        // Dh^(-1/2)
  const float* q = nullptr;  // [rows, Nq, Dh], after norm and rotation
  const KvSequence* sequences = nullptr;
  int64_t sequence_count = 0;
  float* out = nullptr;  // [rows, Nq, Dh]
  // Of attention_workspace() floats, contents free. Without it the groups of a row stay on one
  // thread; the results are the same.
  float* workspace = nullptr;
};

int64_t attention_workspace(const KvShape& shape);

// Error of an output against float64 (on the stored keys and values), relative to
// sum p_j |v_j| / sum p_j. `magnitude`: the largest sum |q_d k_jd| * scale over the keys; `range`:
// largest minus smallest score. An error in a score is a relative error of its weight, which enters
// numerator and denominator; the exponents of the merges telescope, so their roundings stay within
// those of `range`.
constexpr double attention_relative_error(int64_t head_dim, int64_t keys, double magnitude,
                                          double range) {
  const auto groups = static_cast<double>((keys + kAttentionGroup - 1) / kAttentionGroup);
  const double score = roundings(lane_sum_depth(head_dim) + 1.0) * magnitude;
  const double weight = score + roundings(2.0 * range + kExpRoundings * (1.0 + groups));
  const double chain = roundings(static_cast<double>(keys < 256 ? keys : 256) + 3.0 * groups);
  const double sum = roundings(lane_sum_depth(256) + 3.0 * groups + 1.0);
  return 1.01 * (2.0 * weight + chain + sum);
}

void run_attention(const CpuContext& context, const AttentionArgs& args);
ShapeClass shape_class(const AttentionArgs& args);
std::vector<KernelInfo> attention_kernels();

}  // namespace lockstep
