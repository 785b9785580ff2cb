// 32 consecutive weights of a row of blocks, as the integers and factors that are stored.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/block_type.h"

namespace lockstep {

inline constexpr int kBlockGroup = 32;

// Element e is fma(scale[e / 16], q[e], bias[e / 16]): exact where the bias is zero, else one
// rounding.
struct BlockGroup {
  float scale[2] = {};
  float bias[2] = {};  // +0 in formats that have none
  int8_t q[kBlockGroup] = {};
};

// Group `index` (elements [32 * index, 32 * index + 32)) of the row that starts at `row`.
BlockGroup read_block_group(BlockType type, const std::byte* row, int64_t index);

// The values that the nibbles of IQ4_NL and IQ4_XS stand for.
inline constexpr int8_t kNonLinear4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                           1,    13,   25,  38,  53,  69,  89,  113};

// 6-bit scale and minimum j of 0..7 from the 12 bytes of a Q4_K or Q5_K block.
struct ScaleAndMin {
  uint8_t scale;
  uint8_t min;
};
constexpr ScaleAndMin unpack_scale_and_min(const uint8_t* packed, int j) {
  const auto byte = [](int value) { return static_cast<uint8_t>(value); };
  if (j < 4) return {byte(packed[j] & 63), byte(packed[j + 4] & 63)};
  return {byte((packed[j + 4] & 15) | (packed[j - 4] >> 6 << 4)),
          byte((packed[j + 4] >> 4) | (packed[j] >> 6 << 4))};
}

}  // namespace lockstep
