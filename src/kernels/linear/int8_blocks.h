// GGUF blocks as the int8 products read them: 16 groups of 32 at a time, as bytes in natural order
// and factors in the lane order of quantized_rows.h.
//   BlockRow<kType>(weight, output)
//   add_block(g, present, rows, count, acc)   as WeightRow's in cpu_int8.cc
#pragma once

#include "formats/block_group.h"
#include "kernels/linear/int8_block.h"

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

// What one format needs: kBits of its unsigned integers, kZero, which is taken off them, and
// stage(): one block to bytes.
template <BlockType kType>
struct BlockBytes;

template <>
struct BlockBytes<BlockType::kQ4_0> {
  static constexpr int kBits = 4;
  static constexpr int kZero = 8;
  static void stage(const uint8_t* block, uint8_t* out) {
    split_nibbles(block + 2, 16, out, out + 16);
  }
};

template <>
struct BlockBytes<BlockType::kQ8_0> {
  static constexpr int kBits = 8;
  static constexpr int kZero = 128;
  static void stage(const uint8_t* __restrict block, uint8_t* __restrict out) {
    for (int i = 0; i < 32; ++i) out[i] = block[2 + i] ^ 0x80;
  }
};

template <>
struct BlockBytes<BlockType::kQ4_K> {
  static constexpr int kBits = 4;
  static constexpr int kZero = 0;
  static void stage(const uint8_t* block, uint8_t* out) {
    for (int i = 0; i < 4; ++i) {
      split_nibbles(block + 16 + 32 * i, 32, out + 64 * i, out + 64 * i + 32);
    }
  }
};

template <>
struct BlockBytes<BlockType::kQ5_K> {
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
struct BlockBytes<BlockType::kQ6_K> {
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

// 16 groups to bytes.
template <BlockType kType>
inline void stage_blocks(const uint8_t* blocks, uint8_t* bytes) {
  constexpr BlockShape kShape = block_shape(kType);
  for (int b = 0; b < kActivationBlock / kShape.elements; ++b) {
    BlockBytes<kType>::stage(blocks + b * kShape.bytes, bytes + b * kShape.elements);
  }
}

inline float half_at(const uint8_t* address) {
  return f16_to_float(load_unaligned<uint16_t>(address));
}

// Lanes 4 i + j of the result hold values[j], as groups of a block of 16 whose first 4 groups (then
// the next 4, ...) share one lie in lanes.
inline F32x16 quarters(const float (&values)[4]) {
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = values[i % 4];
  return F32x16::load(lanes);
}

// Scale and bias of 16 groups: value = scale * byte + bias.
struct BlockFactors {
  F32x16 scale;
  F32x16 bias;
};

// One binary16 factor before each group.
template <BlockType kType>
BlockFactors simple_factors(const uint8_t* blocks) {
  constexpr int kBytes = block_shape(kType).bytes;
  uint16_t halves[kGroupsPerBlock];
  for (int g = 0; g < kGroupsPerBlock; ++g) {
    halves[activation_group_position(g)] = load_unaligned<uint16_t>(blocks + g * kBytes);
  }
  const F32x16 scale = F32x16::load_f16(halves);
  // Exact, as are its products with sums of q: 11 bits times 12.
  return {scale, scale * F32x16::splat(-static_cast<float>(BlockBytes<kType>::kZero))};
}

// Dots of 16 groups' unsigned integers with the block at x[r].
template <BlockType kType>
inline void dot_blocks(const uint8_t* blocks, const int8_t* const* x, int64_t rows, I32x16* out) {
  uint8_t bytes[kActivationBlock];
  stage_blocks<kType>(blocks, bytes);
  dot_bytes<BlockBytes<kType>::kBits>(bytes, x, rows, out);
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA

#if defined(LOCKSTEP_ISA_AVX512) || defined(LOCKSTEP_ISA_AVX2)
#include "kernels/linear/int8_blocks_x86.h"
#else

namespace lockstep::LOCKSTEP_ISA {
namespace {

// 6-bit scales and minima of two blocks of Q4_K or Q5_K.
inline BlockFactors k_factors(const uint8_t* first, const uint8_t* second) {
  uint8_t scales[kGroupsPerBlock], mins[kGroupsPerBlock];  // in lane order
  const uint8_t* blocks[2] = {first, second};
  for (int b = 0; b < 2; ++b) {
    const auto a = load_unaligned<uint32_t>(blocks[b] + 4);
    const auto m = load_unaligned<uint32_t>(blocks[b] + 8);
    const auto c = load_unaligned<uint32_t>(blocks[b] + 12);
    const uint32_t words[4] = {a & 0x3f3f3f3fu, (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u),
                               m & 0x3f3f3f3fu, (c >> 4 & 0x0f0f0f0fu) | (m >> 2 & 0x30303030u)};
    for (int j = 0; j < 8; ++j) {
      const int lane = 4 * (j % 4) + 2 * b + j / 4;
      scales[lane] = static_cast<uint8_t>(words[j / 4] >> (8 * (j % 4)));
      mins[lane] = static_cast<uint8_t>(words[2 + j / 4] >> (8 * (j % 4)));
    }
  }
  const float d[2] = {half_at(first), half_at(second)};
  const float m[2] = {half_at(first + 2), half_at(second + 2)};
  return {F32x16::load_u8(scales) * quarters({d[0], d[0], d[1], d[1]}),
          -(F32x16::load_u8(mins) * quarters({m[0], m[0], m[1], m[1]}))};
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA

#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <BlockType kType>
class BlockRow {
 public:
  BlockRow(const MatrixView& weight, int64_t output)
      : blocks_(reinterpret_cast<const uint8_t*>(weight.data) +
                static_cast<size_t>(output) * weight.row_bytes()) {}

  // Adds the block of groups [g, g + present) to acc[0 .. count).
  template <typename Rows>
  [[gnu::always_inline]] void add_block(int64_t g, int64_t present, const Rows& rows, int64_t count,
                                        F32x16* acc) const {
    constexpr int kStored = kGroupsPerBlock / kGroups;  // blocks
    const uint8_t* blocks = blocks_ + g / kGroups * kBytes;
    uint8_t padded[kStored * kBytes];
    if (present < kGroupsPerBlock) {
      std::memset(padded, 0, sizeof(padded));
      std::memcpy(padded, blocks, static_cast<size_t>(present / kGroups * kBytes));
      blocks = padded;
    }
    add_whole(blocks, rows, count, acc);
  }

 private:
  using Format = BlockBytes<kType>;
  static constexpr int kBytes = block_shape(kType).bytes;
  static constexpr int kGroups = block_shape(kType).elements / static_cast<int>(kActivationGroup);

  template <typename Rows>
  [[gnu::always_inline]] static void add_whole(const uint8_t* blocks, const Rows& rows,
                                               int64_t count, F32x16* acc) {
    I32x16 dots[Rows::kMost];
    if constexpr (kType == BlockType::kQ6_K) {
      uint8_t bytes[kActivationBlock];
      stage_blocks<kType>(blocks, bytes);
      dot_halves<Format::kBits>(bytes, half_scales(blocks), rows.q, rows.sum, Format::kZero, count,
                                dots);
      const float d[2] = {half_at(blocks + 208), half_at(blocks + kBytes + 208)};
      const F32x16 scale = quarters({d[0], d[0], d[1], d[1]});
      for (int64_t r = 0; r < count; ++r) {
        acc[r] = fma(F32x16::load(rows.scale[r]), scale * to_f32(dots[r]), acc[r]);
      }
    } else {
      dot_blocks<kType>(blocks, rows.q, count, dots);
      const BlockFactors factors = factors_of(blocks);
      for (int64_t r = 0; r < count; ++r) {
        const F32x16 t =
            fma(factors.scale, to_f32(dots[r]), factors.bias * F32x16::load(rows.sum[r]));
        acc[r] = fma(F32x16::load(rows.scale[r]), t, acc[r]);
      }
    }
  }

  static BlockFactors factors_of(const uint8_t* blocks) {
    if constexpr (kGroups == 1) return simple_factors<kType>(blocks);
    return k_factors(blocks, blocks + kBytes);
  }

  static HalfScales half_scales(const uint8_t* blocks) {
    HalfScales halves;
    for (int g = 0; g < kGroupsPerBlock; ++g) {
      const uint8_t* scales = blocks + g / kGroups * kBytes + 192 + 2 * (g % kGroups);
      const int64_t lane = activation_group_position(g);
      halves.first[lane] = static_cast<int8_t>(scales[0]);
      halves.second[lane] = static_cast<int8_t>(scales[1]);
    }
    return halves;
  }

  const uint8_t* blocks_;
};

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
