// One row of float32 activations against a few weight rows, decoded in registers on their way: each
// weight is used once, so nothing is worth storing.
#pragma once

#include <algorithm>

#include "kernels/simd/decode.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <DType kType, int kOutputs>
void multiply_dense_row(const MatrixView& weight, int64_t output, const float* x, float* y) {
  constexpr size_t kSize = size_of(kType);
  const std::byte* w[kOutputs];
  F32x16 acc[kOutputs];
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
    w[o] = weight.data + static_cast<size_t>(output + o) * weight.row_bytes();
    acc[o] = F32x16::zero();
  }
  int64_t k = 0;
  for (; k + kLanes <= weight.cols; k += kLanes) {
    const F32x16 row = F32x16::load(x + k);
#pragma GCC unroll 4
    for (int o = 0; o < kOutputs; ++o) {
      acc[o] = fma(row, load_floats<kType>(w[o] + static_cast<size_t>(k) * kSize), acc[o]);
    }
  }
  if (k < weight.cols) {
    const int64_t n = weight.cols - k;
    const F32x16 row = load_partial(x + k, n);
#pragma GCC unroll 4
    for (int o = 0; o < kOutputs; ++o) {
      const F32x16 tail = load_floats_partial<kType>(w[o] + static_cast<size_t>(k) * kSize, n);
      acc[o] = fma(row, tail, acc[o]);
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) y[output + o] = reduce_add(acc[o]);
}

template <int kBits, int kOutputs>
void multiply_affine_row(const MatrixView& weight, int64_t output, const float* x, float* y) {
  const uint8_t* packed[kOutputs];
  size_t scale_row[kOutputs];
  F32x16 acc[kOutputs];
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
    const auto row = static_cast<size_t>(output + o);
    packed[o] = reinterpret_cast<const uint8_t*>(weight.data) + row * weight.row_bytes();
    scale_row[o] = row * weight.scale_row_bytes();
    acc[o] = F32x16::zero();
  }
  for (int64_t k = 0; k < weight.cols;) {
    const size_t at = static_cast<size_t>(k / weight.group) * size_of(weight.dtype);
    AffineDecoder<kBits> decoder[kOutputs];
#pragma GCC unroll 4
    for (int o = 0; o < kOutputs; ++o) {
      decoder[o] = {load_float(weight.dtype, weight.scales + scale_row[o] + at),
                    load_float(weight.dtype, weight.biases + scale_row[o] + at)};
    }
    for (const int64_t end = k + weight.group; k < end; k += 32) {
      const F32x16 x0 = F32x16::load(x + k);
      const F32x16 x1 = F32x16::load(x + k + kLanes);
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) {
        F32x16 w0, w1;
        decoder[o].decode_32(packed[o] + k / 8 * kBits, w0, w1);
        acc[o] = fma(x1, w1, fma(x0, w0, acc[o]));
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) y[output + o] = reduce_add(acc[o]);
}

// Calls multiply(std::integral_constant<int, outputs>, output) for all outputs, four at a time.
template <typename Multiply>
void for_each_four(int64_t outputs, const Multiply& multiply) {
  int64_t output = 0;
  for (; output + 4 <= outputs; output += 4) multiply(std::integral_constant<int, 4>(), output);
  for (; output < outputs; ++output) multiply(std::integral_constant<int, 1>(), output);
}

inline void multiply_blocks_row(const MatrixView& weight, int64_t output, const float* x,
                                float* y) {
  constexpr int64_t kStep = 256;
  alignas(64) float w[kStep];
  F32x16 acc = F32x16::zero();
  for (int64_t begin = 0; begin < weight.cols; begin += kStep) {
    const int64_t count = std::min(kStep, weight.cols - begin);
    decode_blocks(weight, output, begin, count, w);
    for (int64_t k = 0; k < count; k += kLanes) {
      acc = fma(F32x16::load(x + begin + k), F32x16::load(w + k), acc);
    }
  }
  y[output] = reduce_add(acc);
}

inline void multiply_row(const MatrixView& weight, const float* x, float* y) {
  if (weight.encoding == Encoding::kBlocks) {
    for (int64_t output = 0; output < weight.rows; ++output) {
      multiply_blocks_row(weight, output, x, y);
    }
    return;
  }
  if (weight.encoding == Encoding::kDense) {
    with_float_type(weight.dtype, [&](auto type) {
      for_each_four(weight.rows, [&](auto outputs, int64_t output) {
        multiply_dense_row<type(), outputs()>(weight, output, x, y);
      });
    });
    return;
  }
  with_bits(weight.bits, [&](auto bits) {
    for_each_four(weight.rows, [&](auto outputs, int64_t output) {
      multiply_affine_row<bits(), outputs()>(weight, output, x, y);
    });
  });
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
