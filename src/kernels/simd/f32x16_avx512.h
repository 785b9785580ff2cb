// f32x16.h for AVX-512 (F, BW, DQ, VL, and VNNI in bytes_avx512.h).
#pragma once

// GCC 12 takes the undefined operand inside its own intrinsics for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

namespace lockstep::LOCKSTEP_ISA {
namespace {

struct I32x16 {
  __m512i v;
  static I32x16 splat(int32_t x) { return {_mm512_set1_epi32(x)}; }
  static I32x16 load(const void* address) { return {_mm512_loadu_si512(address)}; }
  void store(void* address) const { _mm512_storeu_si512(address, v); }
};

struct F32x16 {
  __m512 v;
  static F32x16 splat(float x) { return {_mm512_set1_ps(x)}; }
  static F32x16 zero() { return {_mm512_setzero_ps()}; }
  static F32x16 load(const void* address) { return {_mm512_loadu_ps(address)}; }
  static F32x16 load_bf16(const void* address) {
    const __m256i halves = _mm256_loadu_si256(static_cast<const __m256i_u*>(address));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
  }
  static F32x16 load_f16(const void* address) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i_u*>(address)))};
  }
  static F32x16 load_u8(const void* address) {
    const __m128i bytes = _mm_loadu_si128(static_cast<const __m128i_u*>(address));
    return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes))};
  }
  static F32x16 load_i8(const void* address) {
    const __m128i bytes = _mm_loadu_si128(static_cast<const __m128i_u*>(address));
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))};
  }
  void store(void* address) const { _mm512_storeu_ps(address, v); }
};

struct Mask16 {
  __mmask16 v;
};

inline F32x16 operator+(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F32x16 operator-(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F32x16 operator*(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F32x16 operator/(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
// vmaxps and vminps return their second operand when the comparison fails, which is the semantics
// wanted.
inline F32x16 max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F32x16 min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F32x16 sqrt(F32x16 a) { return {_mm512_sqrt_ps(a.v)}; }
inline F32x16 abs(F32x16 a) { return {_mm512_abs_ps(a.v)}; }
inline Mask16 less(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
inline Mask16 is_nan(F32x16 a) { return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)}; }
inline F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return {_mm512_mask_blend_ps(mask.v, b.v, a.v)};
}
inline I32x16 select(Mask16 mask, I32x16 a, I32x16 b) {
  return {_mm512_mask_blend_epi32(mask.v, b.v, a.v)};
}
// +0 in the masked lanes, v elsewhere.
inline F32x16 zero_where(Mask16 mask, F32x16 v) {
  return {_mm512_maskz_mov_ps(_knot_mask16(mask.v), v.v)};
}
inline I32x16 as_i32(F32x16 a) { return {_mm512_castps_si512(a.v)}; }
inline F32x16 as_f32(I32x16 a) { return {_mm512_castsi512_ps(a.v)}; }
inline F32x16 to_f32(I32x16 a) { return {_mm512_cvtepi32_ps(a.v)}; }
inline I32x16 operator+(I32x16 a, I32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
inline I32x16 operator-(I32x16 a, I32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
inline I32x16 operator&(I32x16 a, I32x16 b) { return {_mm512_and_si512(a.v, b.v)}; }
inline I32x16 operator|(I32x16 a, I32x16 b) { return {_mm512_or_si512(a.v, b.v)}; }
template <int kBits>
I32x16 shift_left(I32x16 a) {
  return {_mm512_slli_epi32(a.v, kBits)};
}
template <int kBits>
I32x16 shift_right_logical(I32x16 a) {
  return {_mm512_srli_epi32(a.v, kBits)};
}
template <int kBits>
I32x16 shift_right(I32x16 a) {
  return {_mm512_srai_epi32(a.v, kBits)};
}

inline void store_bf16_bits(I32x16 bits, void* address) {
  _mm256_storeu_si256(static_cast<__m256i_u*>(address), _mm512_cvtepi32_epi16(bits.v));
}

// The fixed tree 16-8-4-2-1: lane i joins lane i + half, the lower lane on the left.
inline float reduce_add(F32x16 a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
// out[i] = reduce_add of the i-th argument.
inline void reduce_add_4(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  const auto halves = [](__m512 x, __m512 y) {  // 8 lanes of x, then 8 of y
    return _mm512_add_ps(_mm512_shuffle_f32x4(x, y, 0x44), _mm512_shuffle_f32x4(x, y, 0xee));
  };
  const __m512 ab = halves(a.v, b.v), cd = halves(c.v, d.v);
  const __m512 four =
      _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
  const __m512 two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4e));
  const __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
  const __m512i first = _mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12));
  _mm_storeu_ps(out, _mm512_castps512_ps128(_mm512_permutexvar_ps(first, one)));
}
inline float reduce_max(F32x16 a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// Exact: sum of 32 products of an unsigned byte and a signed one in [-127, 127]. The unsigned byte
// is at most 127, so that the pair sums of vpmaddubsw do not saturate.
inline __m256i dot_u8_s8_lanes(const uint8_t* a, const int8_t* b) {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(a));
  const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(b));
  return _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), _mm256_set1_epi16(1));
}
inline int32_t dot_u8_s8_32(const uint8_t* a, const int8_t* b) {
  const __m256i eight = dot_u8_s8_lanes(a, b);
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
