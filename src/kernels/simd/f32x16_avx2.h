// f32x16.h for AVX2 with FMA and F16C.
#pragma once

#include <immintrin.h>

namespace lockstep::LOCKSTEP_ISA {
namespace {

struct I32x16 {
  __m256i lo, hi;
  static I32x16 splat(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  static I32x16 load(const void* address) {
    const auto* p = static_cast<const __m256i_u*>(address);
    return {_mm256_loadu_si256(p), _mm256_loadu_si256(p + 1)};
  }
  void store(void* address) const {
    auto* p = static_cast<__m256i_u*>(address);
    _mm256_storeu_si256(p, lo);
    _mm256_storeu_si256(p + 1, hi);
  }
};

struct F32x16 {
  __m256 lo, hi;
  static F32x16 splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static F32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static F32x16 load(const void* address) {
    const auto* p = static_cast<const std::byte*>(address);
    return {_mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p))),
            _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p + 32)))};
  }
  static F32x16 load_bf16(const void* address) {
    const auto* p = static_cast<const __m128i_u*>(address);
    const __m256i lo = _mm256_cvtepu16_epi32(_mm_loadu_si128(p));
    const __m256i hi = _mm256_cvtepu16_epi32(_mm_loadu_si128(p + 1));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(lo, 16)),
            _mm256_castsi256_ps(_mm256_slli_epi32(hi, 16))};
  }
  static F32x16 load_f16(const void* address) {
    const auto* p = static_cast<const __m128i_u*>(address);
    return {_mm256_cvtph_ps(_mm_loadu_si128(p)), _mm256_cvtph_ps(_mm_loadu_si128(p + 1))};
  }
  static F32x16 load_u8(const void* address) {
    const __m128i bytes = _mm_loadu_si128(static_cast<const __m128i_u*>(address));
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)),
            _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)))};
  }
  static F32x16 load_i8(const void* address) {
    const __m128i bytes = _mm_loadu_si128(static_cast<const __m128i_u*>(address));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
  }
  void store(void* address) const {
    auto* p = static_cast<std::byte*>(address);
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), _mm256_castps_si256(lo));
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p + 32), _mm256_castps_si256(hi));
  }
};

struct Mask16 {
  __m256 lo, hi;
};

inline F32x16 operator+(F32x16 a, F32x16 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
inline F32x16 operator-(F32x16 a, F32x16 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
inline F32x16 operator*(F32x16 a, F32x16 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
inline F32x16 operator/(F32x16 a, F32x16 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
// maxps and minps return their second operand when the comparison fails, which is the semantics
// wanted.
inline F32x16 max(F32x16 a, F32x16 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
inline F32x16 min(F32x16 a, F32x16 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
inline F32x16 sqrt(F32x16 a) { return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }
inline F32x16 abs(F32x16 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
inline Mask16 less(F32x16 a, F32x16 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ)};
}
inline Mask16 is_nan(F32x16 a) {
  return {_mm256_cmp_ps(a.lo, a.lo, _CMP_UNORD_Q), _mm256_cmp_ps(a.hi, a.hi, _CMP_UNORD_Q)};
}
inline F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return {_mm256_blendv_ps(b.lo, a.lo, mask.lo), _mm256_blendv_ps(b.hi, a.hi, mask.hi)};
}
// +0 in the masked lanes, v elsewhere.
inline F32x16 zero_where(Mask16 mask, F32x16 v) {
  return {_mm256_andnot_ps(mask.lo, v.lo), _mm256_andnot_ps(mask.hi, v.hi)};
}
inline I32x16 as_i32(F32x16 a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
inline F32x16 as_f32(I32x16 a) { return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }
inline I32x16 select(Mask16 mask, I32x16 a, I32x16 b) {
  return as_i32(select(mask, as_f32(a), as_f32(b)));
}
inline F32x16 to_f32(I32x16 a) { return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)}; }
inline I32x16 operator+(I32x16 a, I32x16 b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
inline I32x16 operator-(I32x16 a, I32x16 b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
inline I32x16 operator&(I32x16 a, I32x16 b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
inline I32x16 operator|(I32x16 a, I32x16 b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
template <int kBits>
I32x16 shift_left(I32x16 a) {
  return {_mm256_slli_epi32(a.lo, kBits), _mm256_slli_epi32(a.hi, kBits)};
}
template <int kBits>
I32x16 shift_right_logical(I32x16 a) {
  return {_mm256_srli_epi32(a.lo, kBits), _mm256_srli_epi32(a.hi, kBits)};
}
template <int kBits>
I32x16 shift_right(I32x16 a) {
  return {_mm256_srai_epi32(a.lo, kBits), _mm256_srai_epi32(a.hi, kBits)};
}

inline void store_bf16_bits(I32x16 bits, void* address) {
  const __m256i packed = _mm256_packus_epi32(bits.lo, bits.hi);
  _mm256_storeu_si256(static_cast<__m256i_u*>(address), _mm256_permute4x64_epi64(packed, 0xd8));
}

// The fixed tree 16-8-4-2-1: lane i joins lane i + half, the lower lane on the left.
inline float reduce_add(F32x16 a) {
  const __m256 eight = _mm256_add_ps(a.lo, a.hi);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
// out[i] = reduce_add of the i-th argument.
inline void reduce_add_4(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  const auto quarters = [](F32x16 x, F32x16 y) {  // 4 lanes of x, then 4 of y
    const __m256 x8 = _mm256_add_ps(x.lo, x.hi), y8 = _mm256_add_ps(y.lo, y.hi);
    return _mm256_add_ps(_mm256_permute2f128_ps(x8, y8, 0x20),
                         _mm256_permute2f128_ps(x8, y8, 0x31));
  };
  const __m256 ab = quarters(a, b), cd = quarters(c, d);
  // a0 a1 c0 c1 | b0 b1 d0 d1, then one sum in every even lane.
  const __m256 two =
      _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
  const __m256 one = _mm256_add_ps(two, _mm256_movehdup_ps(two));
  const __m128 ac = _mm256_castps256_ps128(one), bd = _mm256_extractf128_ps(one, 1);
  _mm_storeu_ps(out, _mm_blend_ps(ac, _mm_moveldup_ps(bd), 0xa));
}
inline float reduce_max(F32x16 a) {
  const __m256 eight = _mm256_max_ps(a.lo, a.hi);
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
