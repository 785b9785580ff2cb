// Stored weights to float32, in order: dense values exactly, others as fma(scale, q, bias).
#pragma once

#include "base/check.h"
#include "base/float16.h"
#include "formats/block_group.h"
#include "formats/matrix.h"
#include "kernels/simd/unpack.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <DType kType>
inline F32x16 load_floats(const std::byte* address) {
  if constexpr (kType == DType::kBF16) return F32x16::load_bf16(address);
  if constexpr (kType == DType::kF16) return F32x16::load_f16(address);
  return F32x16::load(address);
}

// n < 16 values; the other lanes are zero.
template <DType kType>
inline F32x16 load_floats_partial(const std::byte* address, int64_t n) {
  float lanes[kLanes] = {};
  std::memcpy(lanes, address, static_cast<size_t>(n) * size_of(kType));
  return load_floats<kType>(reinterpret_cast<const std::byte*>(lanes));
}

inline float load_float(DType type, const std::byte* address) {
  if (type == DType::kBF16) return bf16_to_float(load_unaligned<uint16_t>(address));
  if (type == DType::kF16) return f16_to_float(load_unaligned<uint16_t>(address));
  return load_unaligned<float>(address);
}

// Calls function with std::integral_constant<DType, type>.
template <typename Function>
inline void with_float_type(DType type, const Function& function) {
  switch (type) {
    case DType::kF32:
      return function(std::integral_constant<DType, DType::kF32>());
    case DType::kF16:
      return function(std::integral_constant<DType, DType::kF16>());
    case DType::kBF16:
      return function(std::integral_constant<DType, DType::kBF16>());
    default:
      LOCKSTEP_CHECK(false, "stored floats are F32, F16 or BF16");
  }
}

// Calls function with std::integral_constant<int, bits>.
template <typename Function>
inline void with_bits(int bits, const Function& function) {
  switch (bits) {
    case 2:
      return function(std::integral_constant<int, 2>());
    case 3:
      return function(std::integral_constant<int, 3>());
    case 4:
      return function(std::integral_constant<int, 4>());
    case 5:
      return function(std::integral_constant<int, 5>());
    case 6:
      return function(std::integral_constant<int, 6>());
    case 8:
      return function(std::integral_constant<int, 8>());
    default:
      LOCKSTEP_CHECK(false, "affine weights have 2, 3, 4, 5, 6 or 8 bits");
  }
}

// Weights of one affine group: fma(scale, q, bias).
template <int kBits>
class AffineDecoder {
 public:
  AffineDecoder() = default;
  AffineDecoder(float scale, float bias) {
    if constexpr (kHasTables<kBits>) {
      bias_ = fma(F32x16::splat(scale), table_of_q<kBits>(), F32x16::splat(bias));
    } else {
      scale_ = F32x16::splat(scale);
      bias_ = F32x16::splat(bias);
    }
  }

  // 32 weights from 4 * kBits bytes.
  void decode_32(const uint8_t* packed, F32x16& first, F32x16& second) const {
    if constexpr (kHasTables<kBits>) {
      look_up_32<kBits>(packed, bias_, first, second);
    } else {
      F32x16 low, high;
      unpack_32_floats<kBits>(packed, low, high);
      first = fma(scale_, low, bias_);
      second = fma(scale_, high, bias_);
    }
  }

 private:
  F32x16 scale_;
  F32x16 bias_;  // or the table of all weights, by q
};

// Elements [begin, begin + count) of `row` to `out`; begin is a multiple of 32. Up to the next
// multiple of 16, zeros follow.
inline void decode_dense(const MatrixView& matrix, int64_t row, int64_t begin, int64_t count,
                         float* out) {
  with_float_type(matrix.dtype, [&](auto type) {
    constexpr size_t kSize = size_of(type());
    const std::byte* data = matrix.data + static_cast<size_t>(row) * matrix.row_bytes() +
                            static_cast<size_t>(begin) * kSize;
    int64_t k = 0;
    for (; k + kLanes <= count; k += kLanes) {
      load_floats<type()>(data + static_cast<size_t>(k) * kSize).store(out + k);
    }
    if (k < count) {
      load_floats_partial<type()>(data + static_cast<size_t>(k) * kSize, count - k).store(out + k);
    }
  });
}

// As decode_dense; count is a multiple of 32.
inline void decode_affine(const MatrixView& matrix, int64_t row, int64_t begin, int64_t count,
                          float* out) {
  const auto first = static_cast<size_t>(begin);
  const auto* packed = reinterpret_cast<const uint8_t*>(matrix.data) +
                       static_cast<size_t>(row) * matrix.row_bytes() +
                       first * static_cast<size_t>(matrix.bits) / 8;
  const size_t scale_offset = static_cast<size_t>(row) * matrix.scale_row_bytes();
  const std::byte* scales = matrix.scales + scale_offset;
  const std::byte* biases = matrix.biases + scale_offset;
  with_bits(matrix.bits, [&](auto bits) {
    for (int64_t k = 0; k < count; k += 32) {
      const size_t at = static_cast<size_t>((begin + k) / matrix.group) * size_of(matrix.dtype);
      const AffineDecoder<bits()> decoder(load_float(matrix.dtype, scales + at),
                                          load_float(matrix.dtype, biases + at));
      F32x16 low, high;
      decoder.decode_32(packed + k / 8 * bits(), low, high);
      low.store(out + k);
      high.store(out + k + 16);
    }
  });
}

// As decode_affine.
inline void decode_blocks(const MatrixView& matrix, int64_t row, int64_t begin, int64_t count,
                          float* out) {
  const std::byte* data = matrix.data + static_cast<size_t>(row) * matrix.row_bytes();
  for (int64_t k = 0; k < count; k += kBlockGroup) {
    const BlockGroup group = read_block_group(matrix.block, data, (begin + k) / kBlockGroup);
    for (int half = 0; half < 2; ++half) {
      fma(F32x16::splat(group.scale[half]), F32x16::load_i8(group.q + 16 * half),
          F32x16::splat(group.bias[half]))
          .store(out + k + 16 * half);
    }
  }
}

inline void decode_elements(const MatrixView& matrix, int64_t row, int64_t begin, int64_t count,
                            float* out) {
  switch (matrix.encoding) {
    case Encoding::kDense:
      return decode_dense(matrix, row, begin, count, out);
    case Encoding::kAffine:
      return decode_affine(matrix, row, begin, count, out);
    case Encoding::kBlocks:
      return decode_blocks(matrix, row, begin, count, out);
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
