// int8_factors.h for AVX-512: scales and the tree.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Per log2(ratio): which scale of the block each lane takes, in 32-bit lanes and, for permutations
// of 16-bit values, in the upper half of each.
struct ScaleLanes {
  alignas(64) int32_t lane[5][16] = {};
  alignas(64) int32_t upper_half[5][16] = {};

  constexpr ScaleLanes() {
    for (int shift = 0; shift < 5; ++shift) {
      for (int g = 0; g < 16; ++g) {
        lane[shift][activation_lane(g)] = g >> shift;
        upper_half[shift][activation_lane(g)] = (g >> shift) << 16;
      }
    }
  }
};
constexpr ScaleLanes kScaleLanes;

template <DType kType>
[[gnu::always_inline]] inline F32x16 spread_scales(const std::byte* row, int64_t first,
                                                   int64_t count, const ScaleSharing& sharing) {
  const int shift = sharing.shift;
  if (shift < 0) [[unlikely]]
    return spread_any_scales<kType>(row, first, count, sharing.ratio);
  const std::byte* scales = row + static_cast<size_t>(first >> shift) * size_of(kType);
  const auto present = static_cast<__mmask16>((1u << (count >> shift)) - 1u);
  if constexpr (kType == DType::kF32) {
    const __m512 values = _mm512_maskz_loadu_ps(present, scales);
    return {_mm512_permutexvar_ps(_mm512_load_si512(kScaleLanes.lane[shift]), values)};
  }
  const __m512i values = _mm512_zextsi256_si512(_mm256_maskz_loadu_epi16(present, scales));
  const __m512i lanes = _mm512_maskz_permutexvar_epi16(
      0xaaaaaaaau, _mm512_load_si512(kScaleLanes.upper_half[shift]), values);
  if constexpr (kType == DType::kBF16) return {_mm512_castsi512_ps(lanes)};
  return {_mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(lanes, 16)))};
}

// Which 16-bit word of two vectors each lane takes, where the words of some groups lie in both.
template <int kStride>
struct HalfLanes {
  static constexpr int kTogether = 7 * kStride < 64 ? 8 : 4;  // groups
  static constexpr int kSteps = static_cast<int>(kGroupsPerBlock) / kTogether;
  alignas(64) uint16_t word[kSteps][32] = {};
  uint32_t lanes[kSteps] = {};

  constexpr HalfLanes() {
    for (int g = 0; g < kGroupsPerBlock; ++g) {
      const auto lane = activation_lane(g);
      word[g / kTogether][lane] = static_cast<uint16_t>(g % kTogether * kStride);
      lanes[g / kTogether] |= 1u << lane;
    }
  }
};
template <int kStride>
constexpr HalfLanes<kStride> kHalfLanes;

template <typename Format>
inline F32x16 leading_halves(const uint8_t* blocks) {
  constexpr int kStride = Format::kBytes / 2;
  const HalfLanes<kStride>& table = kHalfLanes<kStride>;
  __m512i halves = _mm512_setzero_si512();
#pragma GCC unroll 4
  for (int step = 0; step < HalfLanes<kStride>::kSteps; ++step) {
    const uint8_t* from = blocks + step * HalfLanes<kStride>::kTogether * Format::kBytes;
    const __m512i found = _mm512_maskz_permutex2var_epi16(
        table.lanes[step], _mm512_loadu_si512(from), _mm512_load_si512(table.word[step]),
        _mm512_loadu_si512(from + 64));
    halves = _mm512_or_si512(halves, found);
  }
  return {_mm512_cvtph_ps(_mm512_castsi512_si256(halves))};
}

// Groups g and g + 8 stand two lanes apart, g and g + 4 one lane, g and g + 2 two quarters, g and
// g + 1 one quarter.
inline void reduce_add_4_blocks(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  const auto pairs = [](__m512 x, __m512 y) {  // in each quarter 2 of x, 2 of y
    const __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(x), _mm512_castps_pd(y));
    const __m512d high = _mm512_unpackhi_pd(_mm512_castps_pd(x), _mm512_castps_pd(y));
    return _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
  };
  const __m512 ab = pairs(a.v, b.v), cd = pairs(c.v, d.v);
  const __m512 four =
      _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x88), _mm512_shuffle_ps(ab, cd, 0xdd));
  const __m256 two = _mm256_add_ps(_mm512_castps512_ps256(four), _mm512_extractf32x8_ps(four, 1));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps(two, 1)));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
