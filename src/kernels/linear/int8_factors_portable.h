// int8_factors.h in portable C++.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <DType kType>
F32x16 spread_scales(const std::byte* row, int64_t first, int64_t count,
                     const ScaleSharing& sharing) {
  return spread_any_scales<kType>(row, first, count, sharing.ratio);
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

inline void reduce_add_4_blocks(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  reduce_add_4(transpose_groups(a), transpose_groups(b), transpose_groups(c), transpose_groups(d),
               out);
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
