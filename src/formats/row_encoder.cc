#include "formats/row_encoder.h"

#include <cmath>

#include "base/check.h"
#include "formats/affine_quantiser.h"
#include "formats/block_quantiser.h"

namespace lockstep {
namespace {

AffineFormat affine_format(const MatrixView& format) {
  return {.bits = format.bits, .group = format.group, .scales = format.dtype};
}

bool encode_dense(DType dtype, std::span<const float> values, std::byte* data) {
  for (const float value : values) {
    if (!std::isfinite(store_float(value, dtype, data))) return false;
    data += size_of(dtype);
  }
  return true;
}

}  // namespace

bool can_encode(const MatrixView& format) {
  switch (format.encoding) {
    case Encoding::kDense:
      return format.dtype == DType::kF32 || format.dtype == DType::kF16 ||
             format.dtype == DType::kBF16;
    case Encoding::kAffine:
      return is_valid(affine_format(format)) && format.cols % format.group == 0;
    case Encoding::kBlocks:
      return can_quantise(format.block) && format.cols % block_shape(format.block).elements == 0;
  }
  return false;
}

bool encode_row(const MatrixView& format, std::span<const float> values, std::byte* data,
                std::byte* scales, std::byte* biases) {
  LOCKSTEP_CHECK(can_encode(format) && static_cast<int64_t>(values.size()) == format.cols,
                 encoding_name(format));
  switch (format.encoding) {
    case Encoding::kDense:
      return encode_dense(format.dtype, values, data);
    case Encoding::kAffine:
      return quantise_affine_row(values, affine_format(format), data, scales, biases);
    case Encoding::kBlocks:
      return quantise_block_row(values, format.block, data);
  }
  return false;
}

}  // namespace lockstep
