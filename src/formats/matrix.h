// A stored weight matrix as data: where its bytes lie and how an element is decoded. Nothing is
// copied; the bytes belong to a mapped file or a buffer that outlives the view.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace lockstep {

enum class Encoding : uint8_t {
  kDense,   // row-major elements of `dtype` (F32, F16 or BF16)
  kAffine,  // MLX affine groups: element = scale * q + bias, q unsigned in `bits` bits
};

// [rows, cols], rows = outputs (N), cols = inputs (K), `y = W x`. No address need be aligned.
struct MatrixView {
  Encoding encoding = Encoding::kDense;
  DType dtype = DType::kF32;  // dense: of the elements; affine: of scales and biases
  int bits = 0;               // affine: 2, 3, 4, 5, 6 or 8
  int group = 0;              // affine: consecutive k that share a scale and a bias; divides cols
  int64_t rows = 0;
  int64_t cols = 0;
  const std::byte* data =
      nullptr;  // dense: cols elements a row; affine: a little-endian bit stream a row
  const std::byte* scales = nullptr;  // affine: [rows, cols / group]
  const std::byte* biases = nullptr;  // affine: [rows, cols / group]

  // Bytes of one row of `data`.
  size_t row_bytes() const {
    const auto k = static_cast<size_t>(cols);
    return encoding == Encoding::kDense ? k * size_of(dtype) : k * static_cast<size_t>(bits) / 8;
  }
  // Bytes of one row of `scales`, and of `biases`.
  size_t scale_row_bytes() const {
    return encoding == Encoding::kDense ? 0 : static_cast<size_t>(cols / group) * size_of(dtype);
  }
  // All bytes that a product reads.
  size_t total_bytes() const {
    return static_cast<size_t>(rows) * (row_bytes() + 2 * scale_row_bytes());
  }
  // Rows [begin, begin + count) as a matrix of its own.
  MatrixView row_slice(int64_t begin, int64_t count) const {
    MatrixView slice = *this;
    const auto first = static_cast<size_t>(begin);
    slice.rows = count;
    slice.data += first * row_bytes();
    if (encoding == Encoding::kAffine) {
      slice.scales += first * scale_row_bytes();
      slice.biases += first * scale_row_bytes();
    }
    return slice;
  }
};

// `count` matrices of one shape and encoding, one after another: the experts of a layer.
// `stride_rows` is the distance between two of them in rows (2 * I where gate and up share a
// tensor).
struct MatrixStack {
  MatrixView first;
  int64_t count = 0;
  int64_t stride_rows = 0;

  MatrixView at(int64_t index) const { return first.row_slice(index * stride_rows, first.rows); }
};

// Decodes elements [0, cols) of one row into float32: dense values exactly, affine ones as
// fma(scale, q, bias) with scale and bias widened to float32, so with one rounding.
void decode_row(const MatrixView& matrix, int64_t row, float* out);

// Unpacks the affine integers of one row, one byte each.
void unpack_row(const MatrixView& matrix, int64_t row, uint8_t* out);

}  // namespace lockstep
