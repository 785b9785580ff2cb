#include "formats/matrix.h"

#include <cmath>

#include "base/check.h"
#include "base/float16.h"
#include "formats/block_group.h"

namespace lockstep {
namespace {

float load_float(const std::byte* data, DType dtype, int64_t index) {
  const std::byte* address = data + static_cast<size_t>(index) * size_of(dtype);
  switch (dtype) {
    case DType::kF32:
      return load_unaligned<float>(address);
    case DType::kF16:
      return f16_to_float(load_unaligned<uint16_t>(address));
    case DType::kBF16:
      return bf16_to_float(load_unaligned<uint16_t>(address));
    default:
      break;
  }
  LOCKSTEP_CHECK(false, to_string(dtype));
  return 0.0f;
}

// Value `index` of a little-endian bit stream; a value may straddle two bytes.
uint32_t unpack_value(const std::byte* stream, int bits, int64_t index) {
  const int64_t bit = index * bits;
  const std::byte* address = stream + bit / 8;
  const int shift = static_cast<int>(bit % 8);
  uint32_t window = std::to_integer<uint32_t>(address[0]);
  if (shift + bits > 8) window |= std::to_integer<uint32_t>(address[1]) << 8;
  return (window >> shift) & ((1u << bits) - 1u);
}

void decode_blocks(const MatrixView& matrix, const std::byte* row, float* out) {
  for (int64_t k = 0; k < matrix.cols; k += kBlockGroup) {
    const BlockGroup group = read_block_group(matrix.block, row, k / kBlockGroup);
    for (int e = 0; e < kBlockGroup; ++e) {
      out[k + e] =
          std::fma(group.scale[e / 16], static_cast<float>(group.q[e]), group.bias[e / 16]);
    }
  }
}

}  // namespace

std::string encoding_name(const MatrixView& matrix) {
  switch (matrix.encoding) {
    case Encoding::kDense:
      return to_string(matrix.dtype);
    case Encoding::kAffine:
      return "affine" + std::to_string(matrix.bits) + "g" + std::to_string(matrix.group);
    case Encoding::kBlocks:
      return to_string(matrix.block);
  }
  return "?";
}

void unpack_row(const MatrixView& matrix, int64_t row, uint8_t* out) {
  const std::byte* stream = matrix.data + static_cast<size_t>(row) * matrix.row_bytes();
  for (int64_t k = 0; k < matrix.cols; ++k) {
    out[k] = static_cast<uint8_t>(unpack_value(stream, matrix.bits, k));
  }
}

void decode_row(const MatrixView& matrix, int64_t row, float* out) {
  const std::byte* data = matrix.data + static_cast<size_t>(row) * matrix.row_bytes();
  if (matrix.encoding == Encoding::kDense) {
    for (int64_t k = 0; k < matrix.cols; ++k) out[k] = load_float(data, matrix.dtype, k);
    return;
  }
  if (matrix.encoding == Encoding::kBlocks) return decode_blocks(matrix, data, out);
  const size_t scale_offset = static_cast<size_t>(row) * matrix.scale_row_bytes();
  for (int64_t k = 0; k < matrix.cols; ++k) {
    const int64_t group = k / matrix.group;
    const float scale = load_float(matrix.scales + scale_offset, matrix.dtype, group);
    const float bias = load_float(matrix.biases + scale_offset, matrix.dtype, group);
    const auto q = static_cast<float>(unpack_value(data, matrix.bits, k));
    out[k] = std::fma(scale, q, bias);
  }
}

}  // namespace lockstep
