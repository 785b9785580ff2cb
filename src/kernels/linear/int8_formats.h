// Packed weights that meet int8 activations, 16 groups of 32 at a time.
//   kBits         of the unsigned integers q
//   kZero         what is taken off q
//   kSums         integer sums a group: 2 where its halves have scales of their own
//   kBlockBytes   of 16 groups
//   kGroups       that a stored block has
//   to_bytes(packed, bytes)   512 q in natural order
#pragma once

#include "kernels/linear/quantized_rows.h"
#include "kernels/simd/decode.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline void split_nibbles(const uint8_t* __restrict packed, int count, uint8_t* __restrict low,
                          uint8_t* __restrict high) {
  for (int i = 0; i < count; ++i) low[i] = packed[i] & 15;
  for (int i = 0; i < count; ++i) high[i] = packed[i] >> 4;
}

// Adds `value` to the bytes where bit `bit` of `bits` is set.
inline void add_bits(const uint8_t* __restrict bits, int bit, uint8_t value,
                     uint8_t* __restrict bytes) {
  for (int i = 0; i < 32; ++i) {
    bytes[i] = static_cast<uint8_t>(bytes[i] + ((bits[i] >> bit) & 1) * value);
  }
}

inline void add_crumbs(const uint8_t* __restrict crumbs, int shift, uint8_t* __restrict bytes) {
  for (int i = 0; i < 32; ++i) {
    bytes[i] = static_cast<uint8_t>(bytes[i] | ((crumbs[i] >> shift) & 3) << 4);
  }
}

template <int kBitsOfQ>
struct AffineFormat {
  static constexpr int kBits = kBitsOfQ;
  static constexpr int kZero = 0;
  static constexpr int kSums = 1;
  static constexpr int kGroups = 1;
  static constexpr int kBlockBytes = 64 * kBits;
  static void to_bytes(const uint8_t* packed, uint8_t* bytes) {
    for (int g = 0; g < kGroupsPerBlock; ++g)
      unpack_32<kBits>(packed + g * 4 * kBits, bytes + 32 * g);
  }
};

template <BlockType kType>
struct BlockLayout {
  static constexpr BlockShape kShape = block_shape(kType);
  static constexpr int kGroups = kShape.elements / static_cast<int>(kActivationGroup);
  static constexpr int kStored = static_cast<int>(kGroupsPerBlock) / kGroups;  // blocks
  static constexpr int kBytes = kShape.bytes;
  static constexpr int kBlockBytes = kStored * kBytes;
};

// stage(block, out): one stored block to bytes.
template <BlockType kType>
struct BlockStage;

template <>
struct BlockStage<BlockType::kQ4_0> {
  static constexpr int kBits = 4;
  static constexpr int kZero = 8;
  static void stage(const uint8_t* block, uint8_t* out) {
    split_nibbles(block + 2, 16, out, out + 16);
  }
};

template <>
struct BlockStage<BlockType::kQ8_0> {
  static constexpr int kBits = 8;
  static constexpr int kZero = 128;
  static void stage(const uint8_t* __restrict block, uint8_t* __restrict out) {
    for (int i = 0; i < 32; ++i) out[i] = block[2 + i] ^ 0x80;
  }
};

template <>
struct BlockStage<BlockType::kQ4_K> {
  static constexpr int kBits = 4;
  static constexpr int kZero = 0;
  static void stage(const uint8_t* block, uint8_t* out) {
    for (int i = 0; i < 4; ++i) {
      split_nibbles(block + 16 + 32 * i, 32, out + 64 * i, out + 64 * i + 32);
    }
  }
};

template <>
struct BlockStage<BlockType::kQ5_K> {
  static constexpr int kBits = 5;
  static constexpr int kZero = 0;
  static void stage(const uint8_t* block, uint8_t* out) {
    for (int i = 0; i < 4; ++i) {
      split_nibbles(block + 48 + 32 * i, 32, out + 64 * i, out + 64 * i + 32);
    }
    for (int j = 0; j < 8; ++j) add_bits(block + 16, j, 16, out + 32 * j);
  }
};

template <>
struct BlockStage<BlockType::kQ6_K> {
  static constexpr int kBits = 6;
  static constexpr int kZero = 32;
  static void stage(const uint8_t* block, uint8_t* out) {
    for (int n = 0; n < 2; ++n) {
      uint8_t* half = out + 128 * n;
      split_nibbles(block + 64 * n, 32, half, half + 64);
      split_nibbles(block + 64 * n + 32, 32, half + 32, half + 96);
      for (int t = 0; t < 4; ++t) add_crumbs(block + 128 + 32 * n, 2 * t, half + 32 * t);
    }
  }
};

template <BlockType kTypeOfBlock>
struct BlockFormat : BlockLayout<kTypeOfBlock>, BlockStage<kTypeOfBlock> {
  using Layout = BlockLayout<kTypeOfBlock>;
  static constexpr BlockType kType = kTypeOfBlock;
  static constexpr int kSums = kType == BlockType::kQ6_K ? 2 : 1;
  static void to_bytes(const uint8_t* packed, uint8_t* bytes) {
    for (int b = 0; b < Layout::kStored; ++b) {
      BlockFormat::stage(packed + b * Layout::kBytes, bytes + b * Layout::kShape.elements);
    }
  }
};

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
