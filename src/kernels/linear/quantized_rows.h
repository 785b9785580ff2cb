// int8 activations: groups of 32 consecutive k share a scale (docs/numerics.md, rule 12).
//   amax = max |x|; scale = amax / 127; q = rint(x / scale), ties to even, clamped to [-127, 127];
//   sum = the integer sum of the group's q, as a float (exact).
// A group with a non-finite value gets scale NaN and q 0; amax below 2^-100 gives scale 0 and q 0.
//
// Stored rows are padded with zero groups to whole blocks of 16 groups, one group per lane of a
// block's float vector, and are ordered for the products that read them:
//   group g of a block stands in lane 4 * (g mod 4) + g / 4, a 4 x 4 transposition, which is the
//     order in which vectors of packed 4-bit weights give up their groups;
//   a block's q are 8 vectors of 64 bytes, 4 bytes a lane; vector 2 d holds the elements 8 d + 0,
//     2, 4, 6 of each group and vector 2 d + 1 the elements 8 d + 1, 3, 5, 7: the low and the high
//     nibbles of the four packed bytes d.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"

namespace lockstep {

inline constexpr int64_t kActivationGroup = 32;
inline constexpr int64_t kGroupsPerBlock = 16;
inline constexpr int64_t kActivationBlock = kActivationGroup * kGroupsPerBlock;

// Groups that a stored row of k values has, padding included: a multiple of 16.
constexpr int64_t activation_groups(int64_t k) {
  return (k + kActivationBlock - 1) / kActivationBlock * kGroupsPerBlock;
}

// Where group g of a row is stored in `scale` and `sum`.
constexpr int64_t activation_group_position(int64_t g) {
  return g / 16 * 16 + g % 4 * 4 + g / 4 % 4;
}

// Where value k of a row is stored in `q`.
constexpr int64_t activation_position(int64_t k) {
  const int64_t lane = activation_group_position(k / kActivationGroup) % kGroupsPerBlock;
  const int64_t vector = k % 32 / 8 * 2 + k % 2;
  return k / kActivationBlock * kActivationBlock + vector * 64 + lane * 4 + k % 8 / 2;
}

struct QuantizedRows {
  int8_t* q = nullptr;     // [rows, activation_groups(k) * 32]
  float* scale = nullptr;  // [rows, activation_groups(k)]
  float* sum = nullptr;    // [rows, activation_groups(k)]
};

struct QuantizeRowsArgs {
  const float* x = nullptr;  // [rows, k]
  int64_t rows = 0;
  int64_t k = 0;
  QuantizedRows out;
};

void run_quantize_rows(const CpuContext& context, const QuantizeRowsArgs& args);
ShapeClass shape_class(const QuantizeRowsArgs& args);
std::vector<KernelInfo> quantize_rows_kernels();

}  // namespace lockstep
