// int8_block.h in portable C++.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <int kBits>
inline void dot_block(const uint8_t* packed, const int8_t* const* x, int64_t rows, I32x16* out) {
  uint8_t weights[kActivationBlock];  // in the order of QuantizedRows::q
  for (int64_t g = 0; g < kGroupsPerBlock; ++g) {
    uint8_t values[kActivationGroup];
    unpack_32<kBits>(packed + g * 4 * kBits, values);
    for (int64_t i = 0; i < kActivationGroup; ++i) {
      weights[activation_position(g * kActivationGroup + i)] = values[i];
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    int32_t sums[kLanes] = {};
    for (int64_t i = 0; i < kActivationBlock; ++i) {
      sums[i / 4 % kLanes] += weights[i] * x[r][i];
    }
    out[r] = I32x16::load(sums);
  }
}

template <DType kType>
F32x16 spread_scales_of(const std::byte* row, int64_t first, int64_t count, int64_t ratio) {
  return spread_any_scales<kType>(row, first, count, ratio);
}

inline float reduce_add_block(F32x16 a) { return reduce_add(transpose_groups(a)); }

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
