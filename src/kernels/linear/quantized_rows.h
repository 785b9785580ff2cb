// int8 activations: groups of 32 consecutive k share a scale (docs/numerics.md, rule 12).
//   amax = max |x|; scale = amax / 127; q = rint(x / scale), ties to even, clamped to [-127, 127];
//   sum = the integer sum of the group's q, as a float (exact); half_sum = that of its first 16.
// A group with a non-finite value gets scale NaN and q 0; amax below 2^-100 gives scale 0 and q 0.
//
// A stored row is a run of blocks of 16 groups, padded with zero groups; one group per lane of a
// block's float vectors. Blocks are ordered for the products that read them:
//   group g of a block stands in lane 4 * (g mod 4) + g / 4, a 4 x 4 transposition, which is the
//     order in which vectors of packed 4-bit weights give up their groups;
//   a block's q are 8 vectors of 64 bytes, 4 bytes a lane; vector 2 d holds the elements 8 d + 0,
//     2, 4, 6 of each group and vector 2 d + 1 the elements 8 d + 1, 3, 5, 7: the low and the high
//     nibbles of the four packed bytes d.
// All of a block lies together: rows are then an odd multiple of cache lines apart more often than
// a power of two, and the same block of many rows finds room in the first-level cache.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"

namespace lockstep {

inline constexpr int64_t kActivationGroup = 32;
inline constexpr int64_t kGroupsPerBlock = 16;
inline constexpr int64_t kActivationBlock = kActivationGroup * kGroupsPerBlock;

struct alignas(64) ActivationBlock {
  int8_t q[kActivationBlock];
  float scale[kGroupsPerBlock];
  float sum[kGroupsPerBlock];
  float half_sum[kGroupsPerBlock];
};

// Blocks that a stored row of k values has.
constexpr int64_t activation_blocks(int64_t k) {
  return (k + kActivationBlock - 1) / kActivationBlock;
}

// The lane of group g of a row in its block, g / 16.
constexpr int64_t activation_lane(int64_t g) { return g % 4 * 4 + g / 4 % 4; }

// The place of value k of a row in the q of its block, k / 512.
constexpr int64_t activation_place(int64_t k) {
  const int64_t vector = k % 32 / 8 * 2 + k % 2;
  return vector * 64 + activation_lane(k / kActivationGroup) * 4 + k % 8 / 2;
}

struct QuantizeRowsArgs {
  const float* x = nullptr;  // [rows, k]
  int64_t rows = 0;
  int64_t k = 0;
  ActivationBlock* out = nullptr;  // [rows, activation_blocks(k)]
};

void run_quantize_rows(const CpuContext& context, const QuantizeRowsArgs& args);
ShapeClass shape_class(const QuantizeRowsArgs& args);
std::vector<KernelInfo> quantize_rows_kernels();

}  // namespace lockstep
