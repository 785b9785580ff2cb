// Attention on CUDA: one op with a few-row and a many-row kernel, bit-equal. The op is attention.h;
// this is its order and its storage here (docs/numerics.md, rule 15). Heads are 256 wide.
//
// Keys are visited in groups of 256 from position 0, one page a group. Per query head and group,
// over the keys j <= p, c = log2(e) / 16:
//   s_j = tensor core sum of q k_j over 16 k16 steps from +0 (bf16 in, float32 sum)
//   m_g = max s_j
//   p_j = exp2(fma(s_j, c, -(m_g c)))                        float32; 0 for a key beyond the row
//   l_g = lane t of four sums the keys with (j mod 8) / 2 = t: within 32 keys ascending from +0,
//   the
//         four 32s of each half of the group ascending; butterfly 1-2 over the lanes; then the
//         halves
//   o_g = tensor core sum of bf16(p_j) v_j over 16 k16 steps from +0, keys ascending
// Groups merge left to right into (m, l, o), which starts at (-infinity, 0, 0):
//   m' = max(m, m_g), a = exp2((m - m') c), b = exp2((m_g - m') c),
//   l = fma(a, l, b l_g), o = fma(a, o, b o_g)
// The result is o / l. Values beyond the sequence's end are replaced by zeros before they are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

struct CUstream_st;

namespace lockstep::cuda {

inline constexpr int kAttentionDim = 256;
inline constexpr int kAttentionGroup = 256;  // keys a group, positions a page

struct AttentionArgs {
  const uint16_t* q = nullptr;  // bf16 [kv_heads, rows * heads_a_kv, 256]: row-major in (row, head)
  const uint16_t* k = nullptr;  // bf16 [page_count, kv_heads, 256 positions, 256]
  const uint16_t* v = nullptr;
  const int* pages = nullptr;  // on the device: the page of each group of the sequence
  int page_count = 0;
  int kv_heads = 0;
  int heads_a_kv = 0;      // query heads of one key head
  int rows = 0;            // at positions first_position, first_position + 1, ...
  int first_position = 0;  // their keys and values are stored already
  float* out = nullptr;    // [kv_heads, rows * heads_a_kv, 256]
  bool overlap = false;    // may begin before the previous kernel of the stream has ended

  constexpr int queries() const { return rows * heads_a_kv; }  // of one key head
  constexpr int groups() const {
    return (first_position + rows + kAttentionGroup - 1) / kAttentionGroup;
  }
};

// Floats of scratch that the few-row kernel needs.
constexpr size_t attention_scratch(const AttentionArgs& args) {
  return static_cast<size_t>(args.kv_heads) * args.queries() * args.groups() * (kAttentionDim + 2);
}

// At most 80 queries a key head.
Status attention_few_row(const AttentionArgs& args, float* scratch, CUstream_st* stream);

// Any number of rows.
Status attention_many_row_sm90(const AttentionArgs& args, CUstream_st* stream);

}  // namespace lockstep::cuda
