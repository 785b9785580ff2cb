// Rows of float32 values as GGUF blocks of the formats that are written: Q8_0, Q4_0 and Q4_K.
//
// Scales are rounded to what the block stores first, and every q is then the nearest one under the
// stored scale. Where a format leaves a choice of scale, several are tried, each is refined by
// least squares over the values that it stands for, and the one with the smallest squared error
// stays.
#pragma once

#include <cstddef>
#include <span>

#include "formats/block_type.h"

namespace lockstep {

bool can_quantise(BlockType type);

// row: whole blocks of a type that can be quantised. out: row.size() / elements * bytes bytes.
// False if a value is not finite, or too large for a scale in binary16; `out` is then of no use.
//
// Errors, with A the largest magnitude among the values that share a scale (32 each): Q8_0 at most
// A (1/254 + 2^-11); Q4_0 a root mean square over the 32 of at most A/14 or so, which half a step
// of A/7 would give.
bool quantise_block_row(std::span<const float> row, BlockType type, std::byte* out);

}  // namespace lockstep
