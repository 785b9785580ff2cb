// The inverse of decode_row: float32 values into a stored encoding.
#pragma once

#include <cstddef>
#include <span>

#include "formats/matrix.h"

namespace lockstep {

// True if encode_row writes the encoding of `format`: dense, affine, and the blocks of
// block_quantiser.h.
bool can_encode(const MatrixView& format);

// `values` are the format's cols. data: row_bytes(); scales, biases: scale_row_bytes() each, of no
// use where the encoding has none. Dense values are rounded to nearest. False if a value is not
// finite, or not in the encoding; the outputs are then of no use.
bool encode_row(const MatrixView& format, std::span<const float> values, std::byte* data,
                std::byte* scales, std::byte* biases);

}  // namespace lockstep
