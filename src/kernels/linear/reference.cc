#include "kernels/linear/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/float16.h"
#include "formats/block_group.h"

namespace lockstep {
namespace {

double element(const std::byte* data, DType dtype, int64_t index) {
  const std::byte* address = data + static_cast<size_t>(index) * size_of(dtype);
  if (dtype == DType::kF32) return load_unaligned<float>(address);
  if (dtype == DType::kF16) return f16_to_float(load_unaligned<uint16_t>(address));
  LOCKSTEP_CHECK(dtype == DType::kBF16, to_string(dtype));
  return bf16_to_float(load_unaligned<uint16_t>(address));
}

int packed_value(const std::byte* stream, int bits, int64_t index) {
  int value = 0;
  for (int b = 0; b < bits; ++b) {
    const int64_t bit = index * bits + b;
    value |= ((std::to_integer<int>(stream[bit / 8]) >> (bit % 8)) & 1) << b;
  }
  return value;
}

}  // namespace

ReferenceWeight reference_weight(const MatrixView& matrix, int64_t row, int64_t k) {
  const auto r = static_cast<size_t>(row);
  const std::byte* data = matrix.data + r * matrix.row_bytes();
  if (matrix.encoding == Encoding::kDense) return {.bias = element(data, matrix.dtype, k)};
  if (matrix.encoding == Encoding::kBlocks) {
    const BlockGroup group = read_block_group(matrix.block, data, k / kBlockGroup);
    const int64_t half = k % kBlockGroup / 16;
    return {.scale = group.scale[half], .q = group.q[k % kBlockGroup], .bias = group.bias[half]};
  }
  const size_t scale_row = r * matrix.scale_row_bytes();
  const int64_t group = k / matrix.group;
  return {.scale = element(matrix.scales + scale_row, matrix.dtype, group),
          .q = packed_value(data, matrix.bits, k),
          .bias = element(matrix.biases + scale_row, matrix.dtype, group)};
}

double reference_dequantized(const ActivationBlock* rows, int64_t k_count, int64_t row, int64_t k) {
  const ActivationBlock& block = rows[row * activation_blocks(k_count) + k / kActivationBlock];
  const float scale = block.scale[activation_lane(k / kActivationGroup)];
  return static_cast<double>(scale) * block.q[activation_place(k)];
}

void reference_linear(const LinearArgs& args, double* y, double* magnitude) {
  const MatrixView& w = args.weight;
  const bool int8 = takes_int8(w) && args.x_quantized != nullptr;
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t n = 0; n < w.rows; ++n) {
      double sum = 0.0;
      double size = 0.0;
      double group_q = 0.0;  // of the running group of 32: sums of scale_w q_w x and of bias_w x
      double group_bias = 0.0;
      for (int64_t k = 0; k < w.cols; ++k) {
        const ReferenceWeight weight = reference_weight(w, n, k);
        const double x = int8 ? reference_dequantized(args.x_quantized, w.cols, row, k)
                              : args.x[row * w.cols + k];
        sum += x * weight.value();
        group_q += x * weight.scale * weight.q;
        group_bias += x * weight.bias;
        if (!int8) size += std::fabs(x * weight.value());
        if (int8 && (k + 1) % kActivationGroup == 0) {
          size += std::fabs(group_q) + std::fabs(group_bias);
          group_q = group_bias = 0.0;
        }
      }
      y[row * w.rows + n] = sum;
      if (magnitude != nullptr) magnitude[row * w.rows + n] = size;
    }
  }
}

void reference_quantize_rows(const QuantizeRowsArgs& args, const ReferenceQuantized& out) {
  const int64_t groups = activation_blocks(args.k) * kGroupsPerBlock;
  for (int64_t i = 0; i < args.rows * groups; ++i) {
    const int64_t row = i / groups, begin = i % groups * kActivationGroup;
    const int64_t end = std::min(args.k, begin + kActivationGroup);
    const float* x = args.x + row * args.k;
    float amax = 0.0f;
    bool finite = true;
    for (int64_t k = begin; k < end; ++k) {
      amax = std::max(amax, std::fabs(x[k]));
      finite = finite && std::isfinite(x[k]);
    }
    const bool live = finite && amax >= 0x1p-100f;
    const float step = live ? amax / 127.0f : 0.0f;
    double halves[2] = {};
    const int64_t first_group = row * groups + i % groups / kGroupsPerBlock * kGroupsPerBlock;
    for (int64_t k = begin; k < begin + kActivationGroup; ++k) {
      const double value = live && k < end ? std::nearbyint(x[k] / step) : 0.0;
      out.q[first_group * kActivationGroup + activation_place(k)] = value;
      halves[k % kActivationGroup / 16] += value;
    }
    const int64_t at = first_group + activation_lane(i % groups);
    out.scale[at] = finite ? step : std::numeric_limits<double>::quiet_NaN();
    out.sum[at] = halves[0] + halves[1];
    out.half_sum[at] = halves[0];
  }
}

void reference_linear(const LinearArgs& args, const double* x, double* y) {
  const MatrixView& w = args.weight;
  std::vector<double> weights(static_cast<size_t>(w.cols));
  for (int64_t n = 0; n < w.rows; ++n) {
    for (int64_t k = 0; k < w.cols; ++k) {
      weights[static_cast<size_t>(k)] = reference_weight(w, n, k).value();
    }
    for (int64_t row = 0; row < args.rows; ++row) {
      y[row * w.rows + n] =
          std::inner_product(weights.begin(), weights.end(), x + row * w.cols, 0.0);
    }
  }
}

}  // namespace lockstep
