// A stored weight matrix as data: where its bytes lie and how an element is decoded. Nothing is
// copied; the bytes belong to a mapped file or a buffer that outlives the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "formats/block_type.h"

namespace lockstep {

enum class Encoding : uint8_t {
  kDense,   // row-major elements of `dtype` (F32, F16 or BF16)
  kAffine,  // MLX affine groups: element = scale * q + bias, q unsigned in `bits` bits
  kBlocks,  // GGUF blocks of `block` type, which hold their scales themselves
};

// [rows, cols], rows = outputs (N), cols = inputs (K), `y = W x`. No address need be aligned.
struct MatrixView {
  Encoding encoding = Encoding::kDense;
  DType dtype = DType::kF32;  // dense: of the elements; affine: of scales and biases
  int bits = 0;               // affine: 2, 3, 4, 5, 6 or 8
  int group = 0;              // affine: consecutive k that share a scale and a bias; divides cols
  BlockType block = {};       // blocks: their format, whose elements divide cols
  int64_t rows = 0;
  int64_t cols = 0;
  // A row is cols elements (dense), a little-endian bit stream (affine), or blocks.
  const std::byte* data = nullptr;
  const std::byte* scales = nullptr;  // affine: [rows, cols / group]
  const std::byte* biases = nullptr;  // affine: [rows, cols / group]

  // Bytes of one row of `data`.
  size_t row_bytes() const;
  // Bytes of one row of `scales`, and of `biases`.
  size_t scale_row_bytes() const {
    return encoding == Encoding::kAffine ? static_cast<size_t>(cols / group) * size_of(dtype) : 0;
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

inline size_t MatrixView::row_bytes() const {
  const auto k = static_cast<size_t>(cols);
  switch (encoding) {
    case Encoding::kDense:
      return k * size_of(dtype);
    case Encoding::kAffine:
      return k * static_cast<size_t>(bits) / 8;
    case Encoding::kBlocks: {
      const BlockShape shape = block_shape(block);
      return k / static_cast<size_t>(shape.elements) * static_cast<size_t>(shape.bytes);
    }
  }
  return 0;
}

// "BF16", "affine4g64", "Q4_K": tells two encodings apart in reports and in the precision tuple.
std::string encoding_name(const MatrixView& matrix);

// Decodes elements [0, cols) of one row into float32: dense values exactly, others as
// fma(scale, q, bias) with scale and bias widened to float32, so with one rounding.
void decode_row(const MatrixView& matrix, int64_t row, float* out);

// Unpacks the affine integers of one row, one byte each.
void unpack_row(const MatrixView& matrix, int64_t row, uint8_t* out);

}  // namespace lockstep
