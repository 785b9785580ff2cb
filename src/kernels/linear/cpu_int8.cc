// Affine weights with int8 activations: blocks of four weight rows are unpacked once and meet up to
// 16 rows, whose accumulators stay beside them.
#include <algorithm>

#include "kernels/linear/cpu.h"
#include "kernels/linear/int8_block.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr int kOutputsTogether = 4;
constexpr int64_t kRows = 16;

struct RowPointers {
  const int8_t* q[kRows];
  const float* scale[kRows];
  const float* sum[kRows];
  float* y[kRows];
};

// What a weight row of a block needs besides its rows.
template <int kBits, DType kType>
struct WeightRow {
  const uint8_t* packed;
  const std::byte* scales;
  const std::byte* biases;

  WeightRow(const MatrixView& weight, int64_t output) {
    const auto row = static_cast<size_t>(output);
    packed = reinterpret_cast<const uint8_t*>(weight.data) + row * weight.row_bytes();
    scales = weight.scales + row * weight.scale_row_bytes();
    biases = weight.biases + row * weight.scale_row_bytes();
  }

  // Adds groups [g, g + present) of the block that begins at group g to acc[0 .. count).
  template <typename Rows>
  [[gnu::always_inline]] void add_block(int64_t g, int64_t present, int64_t ratio, const Rows& rows,
                                        int64_t count, F32x16* acc) const {
    uint8_t padded[64 * kBits];
    const uint8_t* block = packed + g * 4 * kBits;
    if (present < kGroupsPerBlock) {
      std::memset(padded, 0, sizeof(padded));
      std::memcpy(padded, block, static_cast<size_t>(present) * 4 * kBits);
      block = padded;
    }
    I32x16 dots[kRows];
    dot_block<kBits>(block, rows.q, g * kActivationGroup, count, dots);
    const F32x16 scale = spread_scales<kType>(scales, g, present, ratio);
    const F32x16 bias = spread_scales<kType>(biases, g, present, ratio);
    for (int64_t r = 0; r < count; ++r) {
      const F32x16 t = fma(scale, to_f32(dots[r]), bias * F32x16::load(rows.sum[r] + g));
      acc[r] = fma(F32x16::load(rows.scale[r] + g), t, acc[r]);
    }
  }
};

// kOutputs weight rows share each block of the rows while it is close. kFixed: the number of rows
// where the compiler should know it, or 0.
template <int kBits, DType kType, int kOutputs, int kFixed>
void multiply(const MatrixView& weight, int64_t output, const RowPointers& rows,
              int64_t row_count) {
  const int64_t count = kFixed != 0 ? kFixed : row_count;
  const int64_t groups = weight.cols / kActivationGroup;
  const int64_t ratio = weight.group / kActivationGroup;
  F32x16 acc[kOutputs][kFixed != 0 ? kFixed : kRows];
  for (int o = 0; o < kOutputs; ++o) {
    for (int64_t r = 0; r < count; ++r) acc[o][r] = F32x16::zero();
  }
  for (int64_t g = 0; g < groups; g += kGroupsPerBlock) {
    const int64_t present = std::min(kGroupsPerBlock, groups - g);
    for (int o = 0; o < kOutputs; ++o) {
      WeightRow<kBits, kType>(weight, output + o).add_block(g, present, ratio, rows, count, acc[o]);
    }
  }
  for (int64_t r = 0; r < count; ++r) {
    for (int o = 0; o < kOutputs; ++o) rows.y[r][output + o] = reduce_add_block(acc[o][r]);
  }
}

template <int kBits, DType kType>
void multiply_tile(const MatrixView& weight, const RowPointers& rows, int64_t count) {
  if (count == 1) {
    for (int64_t output = 0; output < weight.rows; ++output) {
      multiply<kBits, kType, 1, 1>(weight, output, rows, 1);
    }
    return;
  }
  int64_t output = 0;
  for (; output + kOutputsTogether <= weight.rows; output += kOutputsTogether) {
    multiply<kBits, kType, kOutputsTogether, 0>(weight, output, rows, count);
  }
  for (; output < weight.rows; ++output) {
    multiply<kBits, kType, 1, 0>(weight, output, rows, count);
  }
}

}  // namespace

void linear_int8_tile(const LinearTile& tile) {
  const int64_t groups = activation_groups(tile.weight.cols);
  for (int64_t first = 0; first < tile.rows; first += kRows) {
    const int64_t count = std::min(kRows, tile.rows - first);
    RowPointers rows;
    for (int64_t r = 0; r < count; ++r) {
      const int64_t source = tile.source(first + r);
      rows.q[r] = tile.x_quantized.q + source * groups * kActivationGroup;
      rows.scale[r] = tile.x_quantized.scale + source * groups;
      rows.sum[r] = tile.x_quantized.sum + source * groups;
      rows.y[r] = tile.y + tile.target(first + r) * tile.y_stride;
    }
    with_float_type(tile.weight.dtype, [&](auto type) {
      with_bits(tile.weight.bits,
                [&](auto bits) { multiply_tile<bits(), type()>(tile.weight, rows, count); });
    });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
