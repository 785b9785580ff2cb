// int8_factors.h in portable C++.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <DType kType>
F32x16 spread_scales(const std::byte* row, int64_t first, int64_t count,
                     const ScaleSharing& sharing) {
  return spread_any_scales<kType>(row, first, count, sharing.ratio);
}

template <typename Format>
inline F32x16 leading_halves(const uint8_t* blocks) {
  uint16_t halves[kGroupsPerBlock];
  for (int g = 0; g < kGroupsPerBlock; ++g) {
    halves[activation_lane(g)] = load_unaligned<uint16_t>(blocks + g * Format::kBytes);
  }
  return F32x16::load_f16(halves);
}

// Two stored blocks with one binary16 factor each, 8 groups a block.
inline F32x16 spread_two(const uint8_t* first, const uint8_t* second) {
  uint16_t halves[kGroupsPerBlock];
  for (int g = 0; g < kGroupsPerBlock; ++g) {
    halves[activation_lane(g)] = load_unaligned<uint16_t>(g < 8 ? first : second);
  }
  return F32x16::load_f16(halves);
}

inline PlainFactors k_factors(const uint8_t* first, const uint8_t* second) {
  uint8_t scales[kGroupsPerBlock], mins[kGroupsPerBlock];  // in lane order
  const uint8_t* blocks[2] = {first, second};
  for (int g = 0; g < kGroupsPerBlock; ++g) {
    const ScaleAndMin packed = unpack_scale_and_min(blocks[g / 8] + 4, g % 8);
    scales[activation_lane(g)] = packed.scale;
    mins[activation_lane(g)] = packed.min;
  }
  return {F32x16::load_u8(scales) * spread_two(first, second),
          -(F32x16::load_u8(mins) * spread_two(first + 2, second + 2))};
}

inline HalfFactors half_factors(const uint8_t* first, const uint8_t* second) {
  constexpr int kScales = 192, kFactor = 208;
  int8_t scales[2][kGroupsPerBlock];  // of the first halves, of the second
  const uint8_t* blocks[2] = {first, second};
  for (int g = 0; g < kGroupsPerBlock; ++g) {
    for (int half = 0; half < 2; ++half) {
      const uint8_t scale = blocks[g / 8][kScales + 2 * (g % 8) + half];
      scales[half][activation_lane(g)] = static_cast<int8_t>(scale);
    }
  }
  return {F32x16::load_i8(scales[0]), F32x16::load_i8(scales[1]),
          spread_two(first + kFactor, second + kFactor), F32x16::splat(32.0f)};
}

inline void reduce_add_4_blocks(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  reduce_add_4(transpose_groups(a), transpose_groups(b), transpose_groups(c), transpose_groups(d),
               out);
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
