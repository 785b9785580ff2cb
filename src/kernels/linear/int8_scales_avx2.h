// int8_factors.h for AVX2: scales and the tree.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

// 4 or 8 consecutive values; of 4, the upper half is not defined.
template <DType kType, int kCount>
inline __m256 load_scales(const std::byte* p) {
  static_assert(kCount == 4 || kCount == 8);
  if constexpr (kType == DType::kF32) {
    if constexpr (kCount == 4) {
      return _mm256_castps128_ps256(
          _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p))));
    }
    return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p)));
  }
  const __m128i halves =
      kCount == 4 ? _mm_loadu_si64(p) : _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p));
  if constexpr (kType == DType::kF16) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

inline __m256 pick(__m256 values, int a, int b, int c, int d, int e, int f, int g, int h) {
  return _mm256_permutevar8x32_ps(values, _mm256_setr_epi32(a, b, c, d, e, f, g, h));
}

template <DType kType>
[[gnu::always_inline]] inline F32x16 spread_scales(const std::byte* row, int64_t first,
                                                   int64_t count, const ScaleSharing& sharing) {
  const int64_t ratio = sharing.ratio;
  if (count == kGroupsPerBlock) [[likely]] {
    if (ratio == 2) {
      const __m256 s = load_scales<kType, 8>(row + static_cast<size_t>(first / 2) * size_of(kType));
      return {pick(s, 0, 2, 4, 6, 0, 2, 4, 6), pick(s, 1, 3, 5, 7, 1, 3, 5, 7)};
    }
    if (ratio == 4) {
      const __m256 s = load_scales<kType, 4>(row + static_cast<size_t>(first / 4) * size_of(kType));
      const __m256 both = _mm256_permute2f128_ps(s, s, 0x00);
      return {both, both};
    }
    if (ratio == 1) {
      const std::byte* scales = row + static_cast<size_t>(first) * size_of(kType);
      const __m256 a = load_scales<kType, 8>(scales);
      const __m256 b = load_scales<kType, 8>(scales + 8 * size_of(kType));
      // Lanes 0 4 8 12, 1 5 9 13, then 2 6 10 14, 3 7 11 15: two of a, two of b, by turns.
      return {
          _mm256_blend_ps(pick(a, 0, 4, 0, 0, 1, 5, 0, 0), pick(b, 0, 0, 0, 4, 0, 0, 1, 5), 0xcc),
          _mm256_blend_ps(pick(a, 2, 6, 0, 0, 3, 7, 0, 0), pick(b, 0, 0, 2, 6, 0, 0, 3, 7), 0xcc)};
    }
  }
  return spread_any_scales<kType>(row, first, count, ratio);
}

template <typename Format>
inline F32x16 leading_halves(const uint8_t* blocks) {
  uint16_t halves[kGroupsPerBlock];
  for (int g = 0; g < kGroupsPerBlock; ++g) {
    halves[activation_lane(g)] = load_unaligned<uint16_t>(blocks + g * Format::kBytes);
  }
  return F32x16::load_f16(halves);
}

// Groups g and g + 8 stand two lanes apart, g and g + 4 one lane, g and g + 2 two quarters, g and
// g + 1 one quarter.
inline void reduce_add_4_blocks(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  const auto pairs = [](__m256 x, __m256 y) {  // in each quarter 2 of x, 2 of y
    const __m256d low = _mm256_unpacklo_pd(_mm256_castps_pd(x), _mm256_castps_pd(y));
    const __m256d high = _mm256_unpackhi_pd(_mm256_castps_pd(x), _mm256_castps_pd(y));
    return _mm256_add_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high));
  };
  const auto fours = [](__m256 ab, __m256 cd) {
    return _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x88), _mm256_shuffle_ps(ab, cd, 0xdd));
  };
  const __m256 two = _mm256_add_ps(fours(pairs(a.lo, b.lo), pairs(c.lo, d.lo)),
                                   fours(pairs(a.hi, b.hi), pairs(c.hi, d.hi)));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps(two, 1)));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
