// Affine weights with int8 activations: blocks of four weight rows are unpacked once and meet up to
// 16 rows, whose accumulators stay beside them.
#include <algorithm>

#include "kernels/linear/cpu.h"
#include "kernels/linear/int8_block.h"
#include "kernels/simd/decode.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr int64_t kOutputs = 4;
constexpr int64_t kRows = 16;

struct RowPointers {
  const int8_t* q[kRows];
  const float* scale[kRows];
  const float* sum[kRows];
  float* y[kRows];
};

// The scales or biases of the groups of one block, each in its lane. Groups from `count` on do not
// exist: zero.
template <DType kType>
F32x16 spread_scales(const std::byte* row, int64_t first_group, int64_t count, int64_t ratio) {
  float lanes[kLanes] = {};
  for (int64_t g = 0; g < count; ++g) {
    const auto at = static_cast<size_t>((first_group + g) / ratio);
    lanes[activation_group_position(g)] = load_float<kType>(row + at * size_of(kType));
  }
  return F32x16::load(lanes);
}

template <int kBits, DType kType>
void multiply(const MatrixView& weight, int64_t output, const RowPointers& rows, int64_t count) {
  const int64_t groups = weight.cols / kActivationGroup;
  const int64_t ratio = weight.group / kActivationGroup;
  const auto row = static_cast<size_t>(output);
  const auto* packed = reinterpret_cast<const uint8_t*>(weight.data) + row * weight.row_bytes();
  const std::byte* scales = weight.scales + row * weight.scale_row_bytes();
  const std::byte* biases = weight.biases + row * weight.scale_row_bytes();
  F32x16 acc[kRows];
  for (int64_t r = 0; r < count; ++r) acc[r] = F32x16::zero();
  for (int64_t g = 0; g < groups; g += kGroupsPerBlock) {
    const int64_t present = std::min(kGroupsPerBlock, groups - g);
    uint8_t padded[64 * kBits] = {};
    const uint8_t* source = packed + g * 4 * kBits;
    if (present < kGroupsPerBlock) {
      std::memcpy(padded, source, static_cast<size_t>(present) * 4 * kBits);
      source = padded;
    }
    const auto block = WeightBlock<kBits>::unpack(source);
    const F32x16 scale = spread_scales<kType>(scales, g, present, ratio);
    const F32x16 bias = spread_scales<kType>(biases, g, present, ratio);
    for (int64_t r = 0; r < count; ++r) {
      const F32x16 dot = to_f32(block.dot(rows.q[r] + g * kActivationGroup));
      const F32x16 t = fma(scale, dot, bias * F32x16::load(rows.sum[r] + g));
      acc[r] = fma(F32x16::load(rows.scale[r] + g), t, acc[r]);
    }
  }
  for (int64_t r = 0; r < count; ++r) rows.y[r][output] = reduce_add_blocks(acc[r]);
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
      with_bits(tile.weight.bits, [&](auto bits) {
        for (int64_t output = 0; output < tile.weight.rows; ++output) {
          multiply<bits(), type()>(tile.weight, output, rows, count);
        }
      });
    });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
