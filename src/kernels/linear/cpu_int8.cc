// Affine weights and blocks with int8 activations: a block of some weight rows is unpacked once and
// meets up to 16 rows, whose accumulators stay beside it.
#include <algorithm>
#include <type_traits>

#include "kernels/linear/cpu.h"
#include "kernels/linear/int8_blocks.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr int64_t kRows = 16;

// Rows stand a power of two apart and would meet in few sets of the first-level cache. More than
// this many are copied together, block by block, for many outputs at a time; fewer are read where
// they are, and only few weight rows at a time, which suits the prefetchers.
constexpr int64_t kFewRows = 4;
constexpr int64_t kFewOutputs = 4;
constexpr int64_t kManyOutputs = 16;

// Up to 16 rows from one block on.
struct RowPointers {
  static constexpr int64_t kMost = kRows;
  const int8_t* q[kRows];
  const float* scale[kRows];
  const float* sum[kRows];
};

RowPointers at_group(const RowPointers& rows, int64_t g, int64_t count) {
  RowPointers moved;
  for (int64_t r = 0; r < count; ++r) {
    moved.q[r] = rows.q[r] + g * kActivationGroup;
    moved.scale[r] = rows.scale[r] + g;
    moved.sum[r] = rows.sum[r] + g;
  }
  return moved;
}

struct CopiedRows {
  alignas(64) int8_t q[kRows][kActivationBlock];
  alignas(64) float scale[kRows][kGroupsPerBlock];
  alignas(64) float sum[kRows][kGroupsPerBlock];

  RowPointers copy(const RowPointers& block, int64_t count) {
    RowPointers copied;
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t i = 0; i < kActivationBlock; i += 64) {
        I32x16::load(block.q[r] + i).store(q[r] + i);
      }
      F32x16::load(block.scale[r]).store(scale[r]);
      F32x16::load(block.sum[r]).store(sum[r]);
      copied.q[r] = q[r];
      copied.scale[r] = scale[r];
      copied.sum[r] = sum[r];
    }
    return copied;
  }
};

template <int kBits>
struct WeightRow {
  const uint8_t* packed;
  const std::byte* scales;
  const std::byte* biases;
  DType type;
  int64_t ratio;  // groups of activations that share a scale

  WeightRow(const MatrixView& weight, int64_t output)
      : type(weight.dtype), ratio(weight.group / kActivationGroup) {
    const auto row = static_cast<size_t>(output);
    packed = reinterpret_cast<const uint8_t*>(weight.data) + row * weight.row_bytes();
    scales = weight.scales + row * weight.scale_row_bytes();
    biases = weight.biases + row * weight.scale_row_bytes();
  }

  // Adds the block of groups [g, g + present) to acc[0 .. count).
  [[gnu::always_inline]] void add_block(int64_t g, int64_t present, const RowPointers& rows,
                                        int64_t count, F32x16* acc) const {
    uint8_t padded[64 * kBits];
    const uint8_t* block = packed + g * 4 * kBits;
    if (present < kGroupsPerBlock) {
      std::memset(padded, 0, sizeof(padded));
      std::memcpy(padded, block, static_cast<size_t>(present) * 4 * kBits);
      block = padded;
    }
    I32x16 dots[kRows];
    dot_block<kBits>(block, rows.q, count, dots);
    const F32x16 scale = spread_scales(type, scales, g, present, ratio);
    const F32x16 bias = spread_scales(type, biases, g, present, ratio);
    for (int64_t r = 0; r < count; ++r) {
      const F32x16 t = fma(scale, to_f32(dots[r]), bias * F32x16::load(rows.sum[r]));
      acc[r] = fma(F32x16::load(rows.scale[r]), t, acc[r]);
    }
  }
};

// One weight row and one row: everything stays in registers. Row is a WeightRow or a BlockRow.
template <typename Row>
void multiply_row(const MatrixView& weight, const RowPointers& row, float* y) {
  const int64_t groups = weight.cols / kActivationGroup;
  for (int64_t output = 0; output < weight.rows; ++output) {
    const Row weight_row(weight, output);
    F32x16 acc = F32x16::zero();
    for (int64_t g = 0; g < groups; g += kGroupsPerBlock) {
      const int64_t present = std::min(kGroupsPerBlock, groups - g);
      weight_row.add_block(g, present, at_group(row, g, 1), 1, &acc);
    }
    y[output] = reduce_add_block(acc);
  }
}

// Outputs [output, output + outputs) of some rows.
template <typename Row>
void multiply_rows(const MatrixView& weight, int64_t output, int64_t outputs,
                   const RowPointers& rows, float* const* y, int64_t count) {
  const int64_t groups = weight.cols / kActivationGroup;
  F32x16 acc[kManyOutputs][kRows];
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t r = 0; r < count; ++r) acc[o][r] = F32x16::zero();
  }
  CopiedRows copied;
  for (int64_t g = 0; g < groups; g += kGroupsPerBlock) {
    const int64_t present = std::min(kGroupsPerBlock, groups - g);
    RowPointers block = at_group(rows, g, count);
    if (count > kFewRows) block = copied.copy(block, count);
    for (int64_t o = 0; o < outputs; ++o) {
      const Row weight_row(weight, output + o);
      weight_row.add_block(g, present, block, count, acc[o]);
    }
  }
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t o = 0; o < outputs; ++o) y[r][output + o] = reduce_add_block(acc[o][r]);
  }
}

template <typename Row>
void multiply_tile(const MatrixView& weight, const RowPointers& rows, float* const* y,
                   int64_t count) {
  if (count == 1) return multiply_row<Row>(weight, rows, y[0]);
  const int64_t step = count > kFewRows ? kManyOutputs : kFewOutputs;
  for (int64_t output = 0; output < weight.rows; output += step) {
    const int64_t outputs = std::min(step, weight.rows - output);
    multiply_rows<Row>(weight, output, outputs, rows, y, count);
  }
}

// Calls function with std::type_identity of what reads the weight's rows.
template <typename Function>
void with_row_type(const MatrixView& weight, const Function& function) {
  if (weight.encoding == Encoding::kAffine) {
    return with_bits(weight.bits,
                     [&](auto bits) { function(std::type_identity<WeightRow<bits()>>()); });
  }
  switch (weight.block) {
    case BlockType::kQ4_0:
      return function(std::type_identity<BlockRow<BlockType::kQ4_0>>());
    case BlockType::kQ8_0:
      return function(std::type_identity<BlockRow<BlockType::kQ8_0>>());
    case BlockType::kQ4_K:
      return function(std::type_identity<BlockRow<BlockType::kQ4_K>>());
    case BlockType::kQ5_K:
      return function(std::type_identity<BlockRow<BlockType::kQ5_K>>());
    case BlockType::kQ6_K:
      return function(std::type_identity<BlockRow<BlockType::kQ6_K>>());
    default:
      LOCKSTEP_CHECK(false, to_string(weight.block));
  }
}

}  // namespace

void linear_int8_tile(const LinearTile& tile) {
  const int64_t groups = activation_groups(tile.weight.cols);
  for (int64_t first = 0; first < tile.rows; first += kRows) {
    const int64_t count = std::min(kRows, tile.rows - first);
    RowPointers rows;
    float* y[kRows];
    for (int64_t r = 0; r < count; ++r) {
      const int64_t source = tile.source(first + r);
      rows.q[r] = tile.x_quantized.q + source * groups * kActivationGroup;
      rows.scale[r] = tile.x_quantized.scale + source * groups;
      rows.sum[r] = tile.x_quantized.sum + source * groups;
      y[r] = tile.y + tile.target(first + r) * tile.y_stride;
    }
    with_row_type(tile.weight, [&](auto row) {
      multiply_tile<typename decltype(row)::type>(tile.weight, rows, y, count);
    });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
