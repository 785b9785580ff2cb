// int8_block.h in portable C++.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <int kBits>
inline void dot_bytes(const uint8_t* bytes, const int8_t* const* x, int64_t rows, I32x16* out) {
  uint8_t weights[kActivationBlock];  // in the order of QuantizedRows::q
  for (int64_t k = 0; k < kActivationBlock; ++k) weights[activation_position(k)] = bytes[k];
  for (int64_t r = 0; r < rows; ++r) {
    int32_t sums[kLanes] = {};
    for (int64_t i = 0; i < kActivationBlock; ++i) {
      sums[i / 4 % kLanes] += weights[i] * x[r][i];
    }
    out[r] = I32x16::load(sums);
  }
}

template <int kBits>
inline void dot_block(const uint8_t* packed, const int8_t* const* x, int64_t rows, I32x16* out) {
  uint8_t bytes[kActivationBlock];
  for (int64_t g = 0; g < kGroupsPerBlock; ++g) {
    unpack_32<kBits>(packed + g * 4 * kBits, bytes + g * kActivationGroup);
  }
  dot_bytes<kBits>(bytes, x, rows, out);
}

// Elements 0 to 15 of the groups are vectors 0 to 3 of a block's q.
template <int kBits>
inline void dot_halves(const uint8_t* bytes, const HalfScales& halves, const int8_t* const* x,
                       const float* const* sums, int32_t zero, int64_t rows, I32x16* out) {
  uint8_t weights[kActivationBlock];
  for (int64_t k = 0; k < kActivationBlock; ++k) weights[activation_position(k)] = bytes[k];
  for (int64_t r = 0; r < rows; ++r) {
    int32_t total[kLanes] = {};
    for (int64_t i = 0; i < kActivationBlock; ++i) {
      const int64_t lane = i / 4 % kLanes;
      const int32_t scale = i < kActivationBlock / 2 ? halves.first[lane] : halves.second[lane];
      total[lane] += scale * (weights[i] - zero) * x[r][i];
    }
    out[r] = I32x16::load(total);
  }
  static_cast<void>(sums);
}

template <DType kType>
F32x16 spread_scales_of(const std::byte* row, int64_t first, int64_t count, int64_t ratio) {
  return spread_any_scales<kType>(row, first, count, ratio);
}

inline float reduce_add_block(F32x16 a) { return reduce_add(transpose_groups(a)); }

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
