// int8_block.h for AVX-512: scales and the tree.
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
        lane[shift][activation_group_position(g)] = g >> shift;
        upper_half[shift][activation_group_position(g)] = (g >> shift) << 16;
      }
    }
  }
};
constexpr ScaleLanes kScaleLanes;

template <DType kType>
inline F32x16 spread_scales_of(const std::byte* row, int64_t first, int64_t count, int64_t ratio) {
  if (kGroupsPerBlock % ratio != 0) return spread_any_scales<kType>(row, first, count, ratio);
  const int shift = __builtin_ctzll(static_cast<uint64_t>(ratio));
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

// Groups g and g + 8 stand two lanes apart, g and g + 4 one lane, g and g + 2 two quarters, g and
// g + 1 one quarter.
inline float reduce_add_block(F32x16 a) {
  const __m512 two = _mm512_add_ps(a.v, _mm512_permute_ps(a.v, 0x4e));
  const __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(one), _mm512_extractf32x8_ps(one, 1));
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
