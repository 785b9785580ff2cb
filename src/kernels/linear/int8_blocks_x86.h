// The formats in most use straight from their blocks to the vectors of quantized_rows.h, and the
// factors of two K blocks, as int8_blocks.h has them in general.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Groups of 32 in one row of four 16-byte pieces: those that vector i of a part comes from begin at
// group 4 i + kPartGroups * part.
inline constexpr int kPartGroups = kPartLanes / 4;

template <>
inline void dot_blocks<BlockType::kQ4_0>(const uint8_t* blocks, const int8_t* const* x,
                                         int64_t rows, I32x16* out) {
  constexpr int kBytes = block_shape(BlockType::kQ4_0).bytes;
  dot_arranged<4>(
      [&](int part, Bytes(&w)[8]) {
        Bytes packed[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          packed[i] = load_sixteens(blocks + (4 * i + kPartGroups * part) * kBytes + 2, kBytes);
        }
        transpose_dwords(packed);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          w[i] = low_nibbles(packed[i]);
          w[4 + i] = high_nibbles(packed[i]);
        }
      },
      x, rows, out);
}

template <>
inline void dot_blocks<BlockType::kQ8_0>(const uint8_t* blocks, const int8_t* const* x,
                                         int64_t rows, I32x16* out) {
  constexpr int kBytes = block_shape(BlockType::kQ8_0).bytes;
  dot_arranged<8>(
      [&](int part, Bytes(&w)[8]) {
        Bytes first[4], second[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const uint8_t* from = blocks + (4 * i + kPartGroups * part) * kBytes + 2;
          first[i] = load_sixteens(from, kBytes);
          second[i] = load_sixteens(from + 16, kBytes);
        }
        transpose_dwords(first);
        transpose_dwords(second);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          w[i] = first[i] ^ splat_bytes(0x80);
          w[4 + i] = second[i] ^ splat_bytes(0x80);
        }
      },
      x, rows, out);
}

// Groups 2 p and 2 p + 1 are the low and the high nibbles of 32 bytes.
template <>
inline void dot_blocks<BlockType::kQ4_K>(const uint8_t* blocks, const int8_t* const* x,
                                         int64_t rows, I32x16* out) {
  constexpr int kBytes = block_shape(BlockType::kQ4_K).bytes;
  dot_arranged<4>(
      [&](int part, Bytes(&w)[8]) {
        Bytes packed[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const int in_block = 64 * (i % 2) + 16 * kPartGroups * part;
          packed[i] = draw_apart(Bytes::load(blocks + i / 2 * kBytes + 16 + in_block));
        }
        transpose_dwords(packed);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          interleave_quarters(low_nibbles(packed[i]), high_nibbles(packed[i]), w[i], w[4 + i]);
        }
      },
      x, rows, out);
}

inline F32x16 repeat_four(__m128 four) {
#if defined(LOCKSTEP_ISA_AVX512)
  return {_mm512_broadcast_f32x4(four)};
#else
  const __m256 twice = _mm256_set_m128(four, four);
  return {twice, twice};
#endif
}

// 16 bytes, one a group, to lane order.
inline F32x16 spread_bytes(__m128i groups) {
  const __m128i lanes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  alignas(16) uint8_t bytes[kGroupsPerBlock];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm_shuffle_epi8(groups, lanes));
  return F32x16::load_u8(bytes);
}

inline BlockFactors k_factors(const uint8_t* first, const uint8_t* second) {
  uint32_t scales[4], mins[4];
  const uint8_t* blocks[2] = {first, second};
#pragma GCC unroll 2
  for (int b = 0; b < 2; ++b) {
    const auto a = load_unaligned<uint32_t>(blocks[b] + 4);
    const auto m = load_unaligned<uint32_t>(blocks[b] + 8);
    const auto c = load_unaligned<uint32_t>(blocks[b] + 12);
    scales[2 * b] = a & 0x3f3f3f3fu;
    scales[2 * b + 1] = (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u);
    mins[2 * b] = m & 0x3f3f3f3fu;
    mins[2 * b + 1] = (c >> 4 & 0x0f0f0f0fu) | (m >> 2 & 0x30303030u);
  }
  const auto four = [](const uint32_t(&words)[4]) {
    return _mm_setr_epi32(static_cast<int>(words[0]), static_cast<int>(words[1]),
                          static_cast<int>(words[2]), static_cast<int>(words[3]));
  };
  // d and dmin of the first block, then of the second.
  const __m128 factors = _mm_cvtph_ps(
      _mm_setr_epi32(load_unaligned<int32_t>(first), load_unaligned<int32_t>(second), 0, 0));
  return {spread_bytes(four(scales)) * repeat_four(_mm_moveldup_ps(factors)),
          -(spread_bytes(four(mins)) * repeat_four(_mm_movehdup_ps(factors)))};
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
