// The block formats of GGUF files: a row is a run of blocks, each with its own scales, and a
// block's bytes never hold parts of two rows. Blocks lie at any address; their integers are
// little-endian.
//
// Every format stores `scale * q + bias` with small integers q. Scales and biases belong to 16 or
// 32 consecutive elements; both are products of a binary16 number and a small integer and so exact
// in float32. block_group.h reads them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

// Bytes and elements of a block:
enum class BlockType : uint8_t {
  kQ4_0,    //  18 / 32: d, 16 bytes of nibbles; d * (n - 8)
  kQ4_1,    //  20 / 32: d, m, nibbles; d * n + m
  kQ5_0,    //  22 / 32: d, 32 high bits, nibbles; d * (n - 16)
  kQ5_1,    //  24 / 32: d, m, 32 high bits, nibbles; d * n + m
  kQ8_0,    //  34 / 32: d, 32 int8; d * q
  kQ2_K,    //  84 / 256: 4-bit scales and minima of 16 elements each, 2-bit q, d, dmin
  kQ3_K,    // 110 / 256: high bits, 2-bit q, 6-bit scales of 16 elements each, d
  kQ4_K,    // 144 / 256: d, dmin, 6-bit scales and minima of 32 elements each, nibbles
  kQ5_K,    // 176 / 256: as Q4_K, with 256 high bits
  kQ6_K,    // 210 / 256: low nibbles, high 2 bits, int8 scales of 16 elements each, d
  kIQ4_NL,  //  18 / 32: d, nibbles that index a table of 16 int8
  kIQ4_XS,  // 136 / 256: as IQ4_NL, with 6-bit scales of 32 elements each
};
inline constexpr int kBlockTypes = 12;

struct BlockShape {
  const char* name;  // as GGUF tools spell it, "Q4_K"
  int elements;      // consecutive k of one block: 32 or 256
  int bytes;
};

// Both inlined always: an object of an instruction set must not lend its copy to others.
[[gnu::always_inline]] constexpr BlockShape block_shape(BlockType type) {
  constexpr BlockShape kShapes[kBlockTypes] = {
      {"Q4_0", 32, 18},   {"Q4_1", 32, 20},   {"Q5_0", 32, 22},   {"Q5_1", 32, 24},
      {"Q8_0", 32, 34},   {"Q2_K", 256, 84},  {"Q3_K", 256, 110}, {"Q4_K", 256, 144},
      {"Q5_K", 256, 176}, {"Q6_K", 256, 210}, {"IQ4_NL", 32, 18}, {"IQ4_XS", 256, 136},
  };
  return kShapes[static_cast<int>(type)];
}

[[gnu::always_inline]] constexpr const char* to_string(BlockType type) {
  return block_shape(type).name;
}

}  // namespace lockstep
