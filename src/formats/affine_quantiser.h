// Makes MLX affine groups from float32 rows: the inverse of decode_row() in formats/matrix.h.
//
// Per group of `group` consecutive values, all arithmetic in float32, roundings ties to even:
//   s = max((max - min) / (2^bits - 1), 1e-7)
//   |min| > |max|: edge = min; otherwise edge = max and s = -s        (scales may be negative)
//   q0 = rint(edge / s);  q0 != 0: s = edge / q0, bias = edge;  q0 == 0: bias = 0
//   q = clamp(rint((w - bias) / s), 0, 2^bits - 1)
// and only then s and bias are rounded to the stored type. So one end of the range is kept exactly,
// and zero is a value of every group that reaches both sides of it. The same as MLX's quantiser.
#pragma once

#include <cstddef>
#include <span>

#include "base/dtype.h"

namespace lockstep {

struct AffineFormat {
  int bits = 4;                 // 2, 3, 4, 5, 6 or 8
  int group = 64;               // 32, 64 or 128
  DType scales = DType::kBF16;  // of scales and biases: kBF16, kF16 or kF32

  bool operator==(const AffineFormat&) const = default;
};

bool is_valid(const AffineFormat& format);

// row: a multiple of `format.group` values. packed: row.size() * bits / 8 bytes, a little-endian
// bit stream. scales, biases: row.size() / group elements of `format.scales`. False if a value is
// not finite, or if a scale or bias is not finite in the stored type; the outputs are then of no
// use.
bool quantise_affine_row(std::span<const float> row, const AffineFormat& format, std::byte* packed,
                         std::byte* scales, std::byte* biases);

// Stores a float32 as `dtype` (kF32, kF16 or kBF16), rounded to nearest, at any address. Returns
// the value that was stored.
float store_float(float value, DType dtype, std::byte* address);

}  // namespace lockstep
