// AVX-512 for f32x16_avx512.h on processors that lack it: SIMDe's functions under the names of the
// intrinsics, in objects that are compiled for AVX2. The build puts it before their sources where
// LOCKSTEP_EMULATE_AVX512 is set (scripts/check_isas.sh). For checks only: it is slow.
#pragma once

#include <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include <cstring>

// What SIMDe 0.7.4 does not have, from its halves.
namespace lockstep::LOCKSTEP_ISA::simde {
namespace {

template <typename Part, int kCount, typename Whole>
void split(const Whole& whole, Part (&parts)[kCount]) {
  static_assert(sizeof(parts) == sizeof(whole));
  std::memcpy(parts, &whole, sizeof(whole));
}

template <typename Whole, typename Half>
Whole join(Half low, Half high) {
  const Half halves[2] = {low, high};
  Whole whole;
  static_assert(sizeof(halves) == sizeof(whole));
  std::memcpy(&whole, halves, sizeof(whole));
  return whole;
}

// The function of 256 bits on both halves.
template <typename Whole, typename Half, typename From, typename Function>
Whole by_halves(const From& from, const Function& function) {
  Half half[2];
  split(from, half);
  return join<Whole>(function(half[0]), function(half[1]));
}

inline __m512 cvtepi32_ps(__m512i a) {
  return by_halves<__m512, __m256i>(a, [](__m256i h) { return _mm256_cvtepi32_ps(h); });
}
inline __m512i cvtepu16_epi32(__m256i a) {
  return by_halves<__m512i, __m128i>(a, [](__m128i h) { return _mm256_cvtepu16_epi32(h); });
}
inline __m512i cvtepi8_epi32(__m128i a) {
  return join<__m512i>(_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8)));
}
inline __m512i cvtepu8_epi32(__m128i a) {
  return join<__m512i>(_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8)));
}
inline __m512 cvtph_ps(__m256i a) {
  return by_halves<__m512, __m128i>(a, [](__m128i h) { return _mm256_cvtph_ps(h); });
}
inline __m256i cvtepi32_epi16(__m512i a) {
  int32_t from[16];
  int16_t to[16];
  std::memcpy(from, &a, sizeof(from));
  for (int i = 0; i < 16; ++i) to[i] = static_cast<int16_t>(from[i]);
  __m256i narrowed;
  std::memcpy(&narrowed, to, sizeof(to));
  return narrowed;
}
inline __m128i cvtepi32_epi8(__m512i a) {
  int32_t from[16];
  int8_t to[16];
  std::memcpy(from, &a, sizeof(from));
  for (int i = 0; i < 16; ++i) to[i] = static_cast<int8_t>(from[i]);
  __m128i narrowed;
  std::memcpy(&narrowed, to, sizeof(to));
  return narrowed;
}
inline __m256 extractf32x8_ps(__m512 a, int which) {
  __m256 half[2];
  split(a, half);
  return half[which];
}
template <int kControl>
__m512 permute_ps(__m512 a) {
  return by_halves<__m512, __m256>(a, [](__m256 h) { return _mm256_permute_ps(h, kControl); });
}
// Quarters of a, then of b, chosen by two bits each.
template <int kControl, typename Whole>
Whole shuffle_quarters(Whole a, Whole b) {
  __m128i from[2][4], to[4];
  split(a, from[0]);
  split(b, from[1]);
  for (int i = 0; i < 4; ++i) to[i] = from[i / 2][kControl >> (2 * i) & 3];
  Whole whole;
  std::memcpy(&whole, to, sizeof(whole));
  return whole;
}
inline __m512i srai_epi32(__m512i a, int bits) {
  return by_halves<__m512i, __m256i>(a, [=](__m256i h) { return _mm256_srai_epi32(h, bits); });
}
inline __m512i zextsi256_si512(__m256i a) { return join<__m512i>(a, _mm256_setzero_si256()); }
inline __m512i zextsi128_si512(__m128i a) {
  return zextsi256_si512(_mm256_inserti128_si256(_mm256_setzero_si256(), a, 0));
}
inline __m512 maskz_loadu_ps(__mmask16 mask, const void* address) {
  float lanes[16] = {};
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) std::memcpy(lanes + i, static_cast<const float*>(address) + i, 4);
  }
  return simde_mm512_loadu_ps(lanes);
}
inline __m256i maskz_loadu_epi16(__mmask16 mask, const void* address) {
  int16_t lanes[16] = {};
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) std::memcpy(lanes + i, static_cast<const int16_t*>(address) + i, 2);
  }
  __m256i loaded;
  std::memcpy(&loaded, lanes, sizeof(lanes));
  return loaded;
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA::simde

#undef _knot_mask16
#define _knot_mask16(a) static_cast<__mmask16>(~(a))
#define _mm256_maskz_loadu_epi16 simde::maskz_loadu_epi16
#define _mm512_cvtepi32_epi8 simde::cvtepi32_epi8
#define _mm512_cvtepi32_epi16 simde::cvtepi32_epi16
#define _mm512_cvtepi32_ps simde::cvtepi32_ps
#define _mm512_cvtepu16_epi32 simde::cvtepu16_epi32
#define _mm512_cvtepi8_epi32 simde::cvtepi8_epi32
#define _mm512_cvtepu8_epi32 simde::cvtepu8_epi32
#define _mm512_cvtph_ps simde::cvtph_ps
#undef _mm512_extractf32x8_ps
#define _mm512_extractf32x8_ps(a, which) simde::extractf32x8_ps(a, which)
#undef _mm512_madd_epi16  // defined, with the arguments of another function
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)
#define _mm512_maskz_loadu_ps simde::maskz_loadu_ps
#undef _mm512_permute_ps
#define _mm512_permute_ps(a, control) simde::permute_ps<control>(a)
#undef _mm512_shuffle_f32x4
#define _mm512_shuffle_f32x4(a, b, control) simde::shuffle_quarters<control>(a, b)
#undef _mm512_shuffle_i64x2
#define _mm512_shuffle_i64x2(a, b, control) simde::shuffle_quarters<control>(a, b)
#define _mm512_srai_epi32 simde::srai_epi32
#define _mm512_zextsi128_si512 simde::zextsi128_si512
#define _mm512_zextsi256_si512 simde::zextsi256_si512
