// int8_factors.h: two K blocks, for AVX2 and above.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline F32x16 repeat_four(__m128 four) {
#if defined(LOCKSTEP_ISA_AVX512)
  return {_mm512_broadcast_f32x4(four)};
#else
  const __m256 twice = _mm256_set_m128(four, four);
  return {twice, twice};
#endif
}

// Two stored blocks with one binary16 factor each, 8 groups a block.
inline F32x16 spread_two(const uint8_t* first, const uint8_t* second) {
  const uint32_t pair = load_unaligned<uint16_t>(first) |
                        static_cast<uint32_t>(load_unaligned<uint16_t>(second)) << 16;
  const __m128i halves = _mm_shufflelo_epi16(_mm_cvtsi32_si128(static_cast<int>(pair)), 0x50);
  return repeat_four(_mm_cvtph_ps(halves));
}

// 16 bytes, one a group, to lane order.
inline F32x16 spread_bytes(__m128i groups) {
  const __m128i lanes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  alignas(16) uint8_t bytes[kGroupsPerBlock];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm_shuffle_epi8(groups, lanes));
  return F32x16::load_u8(bytes);
}

inline PlainFactors k_factors(const uint8_t* first, const uint8_t* second) {
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

inline HalfFactors half_factors(const uint8_t* first, const uint8_t* second) {
  constexpr int kScales = 192, kFactor = 208;
  const auto scales = [](const uint8_t* block) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(block + kScales));
  };
  // Of a block's groups 0 to 7, two scales each, to lanes 0 4 8 12, 1 5 9 13 or, of the second
  // block, two lanes later.
  const __m128i even = _mm_setr_epi8(0, 8, -1, -1, 2, 10, -1, -1, 4, 12, -1, -1, 6, 14, -1, -1);
  const __m128i odd = _mm_setr_epi8(1, 9, -1, -1, 3, 11, -1, -1, 5, 13, -1, -1, 7, 15, -1, -1);
  const auto spread = [&](__m128i lanes) {
    const __m128i later = _mm_slli_epi32(_mm_shuffle_epi8(scales(second), lanes), 16);
    alignas(16) int8_t bytes[kGroupsPerBlock];
    _mm_store_si128(reinterpret_cast<__m128i*>(bytes),
                    _mm_or_si128(_mm_shuffle_epi8(scales(first), lanes), later));
    return F32x16::load_i8(bytes);
  };
  return {spread(even), spread(odd), spread_two(first + kFactor, second + kFactor),
          F32x16::splat(32.0f)};
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
