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

inline F32x16 floats_of(__m128i bytes) {
#if defined(LOCKSTEP_ISA_AVX512)
  return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes))};
#else
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)))};
#endif
}

// A block begins with d, dmin and twelve bytes a, m, c: 6-bit scales j < 4 lie in a, minima in m;
// of the others the low nibbles lie in c, the two bits above in a and m.
inline PlainFactors k_factors(const uint8_t* first, const uint8_t* second) {
  const __m128i one = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(first));
  const __m128i two = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(second));
  const __m128i da = _mm_unpacklo_epi32(one, two);  // d and dmin, a
  const __m128i mc = _mm_unpackhi_epi32(one, two);
  const __m128i am = _mm_unpacklo_epi64(_mm_unpackhi_epi64(da, da), mc);
  const __m128i nibbles = _mm_srlv_epi32(_mm_unpackhi_epi64(mc, mc), _mm_setr_epi32(0, 0, 4, 4));
  const __m128i low = _mm_and_si128(am, _mm_set1_epi8(0x3f));
  const __m128i high = _mm_or_si128(_mm_and_si128(nibbles, _mm_set1_epi8(0x0f)),
                                    _mm_and_si128(_mm_srli_epi32(am, 2), _mm_set1_epi8(0x30)));
  const __m128i lanes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m128i scales = _mm_shuffle_epi8(_mm_unpacklo_epi32(low, high), lanes);
  const __m128i mins = _mm_shuffle_epi8(_mm_unpackhi_epi32(low, high), lanes);
  const __m128 factors = _mm_cvtph_ps(da);  // d and dmin of the first block, then of the second
  return {floats_of(scales) * repeat_four(_mm_moveldup_ps(factors)),
          -(floats_of(mins) * repeat_four(_mm_movehdup_ps(factors)))};
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
