// Affine weights and blocks with int8 activations: a block of some weight rows is unpacked once and
// meets many rows, whose accumulators stay beside it.
#include <algorithm>
#include <type_traits>

#include "kernels/linear/cpu.h"
#include "kernels/linear/int8_rows.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Accumulators of this many outputs, and a block of the rows, stay in the first-level cache.
constexpr int64_t kOutputs = 16;
constexpr int64_t kRows = kMostRows;

// y[0 .. count) = the sums of up to four accumulators.
[[gnu::always_inline]] inline void store_sums(F32x16 a, F32x16 b, F32x16 c, F32x16 d, int64_t count,
                                              float* y) {
  if (count >= 4) [[likely]]
    return reduce_add_4_blocks(a, b, c, d, y);
  float sums[4];
  reduce_add_4_blocks(a, b, c, d, sums);
  for (int64_t i = 0; i < count; ++i) y[i] = sums[i];
}

// One row: weights are read in the order in which they are stored, and asked for some kilobytes
// ahead: hardware prefetchers stop at the end of a page.
template <typename Matrix>
void multiply_row(const Matrix& matrix, int64_t groups, int64_t outputs, const ActivationBlock* x,
                  float* y) {
  constexpr int64_t kAheadBytes = 8192;
  const int64_t ahead = kAheadBytes / matrix.row_bytes() + 1;
  for (int64_t output = 0; output < outputs; output += 4) {
    const int64_t count = std::min<int64_t>(4, outputs - output);
    F32x16 acc[4] = {F32x16::zero(), F32x16::zero(), F32x16::zero(), F32x16::zero()};
    for (int64_t o = 0; o < count; ++o) {
      const typename Matrix::Row row[1] = {matrix.row(output + o)};
      F32x16 sum = F32x16::zero();
      const ActivationBlock* block = x;
      for (int64_t g = 0; g < groups; g += kGroupsPerBlock, ++block) {
        row[0].prefetch(g, ahead);
        add_blocks<1, false>(row, g, std::min(kGroupsPerBlock, groups - g), &block, 1, &sum);
      }
      acc[o] = sum;
    }
    store_sums(acc[0], acc[1], acc[2], acc[3], count, y + output);
  }
}

// Adds one block of some outputs to acc[output][row].
template <bool kFirst, typename Row>
void add_block_of_outputs(const Row* weights, int64_t outputs, int64_t g, int64_t present,
                          const ActivationBlock* const* x, int64_t count, F32x16 (*acc)[kRows]) {
  int64_t o = 0;
  if constexpr (kOutputsTogether == 2) {
    for (; o + 2 <= outputs; o += 2) {
      const Row pair[2] = {weights[o], weights[o + 1]};
      pair[0].prefetch(g, kOutputs);
      pair[1].prefetch(g, kOutputs);
      add_blocks<2, kFirst>(pair, g, present, x, count, acc[o]);
    }
  }
  for (; o < outputs; ++o) {
    const Row one[1] = {weights[o]};
    one[0].prefetch(g, kOutputs);
    add_blocks<1, kFirst>(one, g, present, x, count, acc[o]);
  }
}

// Up to kOutputs outputs of up to kRows rows.
template <typename Row>
void multiply_rows(const Row* weights, int64_t outputs, int64_t groups,
                   const ActivationBlock* const* rows, int64_t count, float* const* y,
                   int64_t first_output) {
  F32x16 acc[kOutputs][kRows];
  for (int64_t o = outputs; o % 4 != 0; ++o) std::fill_n(acc[o], count, F32x16::zero());
  const ActivationBlock* x[kRows];
  std::copy_n(rows, count, x);
  for (int64_t g = 0; g < groups; g += kGroupsPerBlock) {
    const int64_t present = std::min(kGroupsPerBlock, groups - g);
    if (g == 0) {
      add_block_of_outputs<true>(weights, outputs, g, present, x, count, acc);
    } else {
      add_block_of_outputs<false>(weights, outputs, g, present, x, count, acc);
    }
    for (int64_t r = 0; r < count; ++r) ++x[r];
  }
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t o = 0; o < outputs; o += 4) {
      store_sums(acc[o][r], acc[o + 1][r], acc[o + 2][r], acc[o + 3][r], outputs - o,
                 y[r] + first_output + o);
    }
  }
}

template <typename Matrix>
void multiply_tile(const MatrixView& weight, const ActivationBlock* const* rows, float* const* y,
                   int64_t count) {
  const Matrix matrix(weight);
  const int64_t groups = weight.cols / kActivationGroup;
  if (count == 1) return multiply_row(matrix, groups, weight.rows, rows[0], y[0]);
  typename Matrix::Row weights[kOutputs];
  for (int64_t output = 0; output < weight.rows; output += kOutputs) {
    const int64_t outputs = std::min(kOutputs, weight.rows - output);
    for (int64_t o = 0; o < outputs; ++o) weights[o] = matrix.row(output + o);
    multiply_rows(weights, outputs, groups, rows, count, y, output);
  }
}

// Calls function with std::type_identity of what reads the weight's rows.
template <typename Function>
void with_matrix_type(const MatrixView& weight, const Function& function) {
  if (weight.encoding == Encoding::kAffine) {
    return with_bits(weight.bits, [&](auto bits) {
      with_float_type(weight.dtype, [&](auto type) {
        function(std::type_identity<AffineMatrix<bits(), type()>>());
      });
    });
  }
  switch (weight.block) {
    case BlockType::kQ4_0:
      return function(std::type_identity<BlockMatrix<BlockType::kQ4_0>>());
    case BlockType::kQ8_0:
      return function(std::type_identity<BlockMatrix<BlockType::kQ8_0>>());
    case BlockType::kQ4_K:
      return function(std::type_identity<BlockMatrix<BlockType::kQ4_K>>());
    case BlockType::kQ5_K:
      return function(std::type_identity<BlockMatrix<BlockType::kQ5_K>>());
    case BlockType::kQ6_K:
      return function(std::type_identity<BlockMatrix<BlockType::kQ6_K>>());
    default:
      LOCKSTEP_CHECK(false, to_string(weight.block));
  }
}

}  // namespace

void linear_int8_tile(const LinearTile& tile) {
  const int64_t blocks = activation_blocks(tile.weight.cols);
  for (int64_t first = 0; first < tile.rows; first += kRows) {
    const int64_t count = std::min(kRows, tile.rows - first);
    const ActivationBlock* rows[kRows];
    float* y[kRows];
    for (int64_t r = 0; r < count; ++r) {
      rows[r] = tile.x_quantized + tile.source(first + r) * blocks;
      y[r] = tile.y + tile.target(first + r) * tile.y_stride;
    }
    with_matrix_type(tile.weight, [&](auto matrix) {
      multiply_tile<typename decltype(matrix)::type>(tile.weight, rows, y, count);
    });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
