// The factors of 16 groups of weights, one group per lane in the order of quantized_rows.h, and how
// they join the integer sums to the accumulators.
//   spread_scales<kType>(row, first, count, sharing)   scales of groups [first, first + count) of
//   an
//                                                      affine row; other lanes 0
//   k_factors(first, second)                           of two blocks of Q4_K or Q5_K
//   half_factors(first, second)                        of two blocks of Q6_K
//   leading_halves<Format>(blocks)                     the binary16 at the start of each block
//   reduce_add_4_blocks(a, b, c, d, out)               the tree 16-8-4-2-1 over each
#pragma once

#include "kernels/linear/int8_formats.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// weight = scale * q + bias
struct PlainFactors {
  F32x16 scale, bias;

  F32x16 join(const I32x16 (&dots)[1], const ActivationBlock& x, F32x16 acc) const {
    const F32x16 t = fma(scale, to_f32(dots[0]), bias * F32x16::load(x.sum));
    return fma(F32x16::load(x.scale), t, acc);
  }
};

// weight = d * first * (q - zero) in the first half of a group, d * second * (q - zero) in the
// other.
struct HalfFactors {
  F32x16 first, second, d, zero;

  // All below d is whole numbers under 2^24, so exact; adding to +0 keeps a sum of 0 from being -0.
  F32x16 join(const I32x16 (&dots)[2], const ActivationBlock& x, F32x16 acc) const {
    const F32x16 half = F32x16::load(x.half_sum);
    const F32x16 a = to_f32(dots[0]) - zero * half;
    const F32x16 b = to_f32(dots[1]) - zero * (F32x16::load(x.sum) - half);
    const F32x16 t = d * fma(first, a, fma(second, b, F32x16::zero()));
    return fma(F32x16::load(x.scale), t, acc);
  }
};

// Natural order to lane order and, a transposition being its own inverse, back.
inline F32x16 transpose_groups(F32x16 a) {
  float from[kLanes];
  float to[kLanes];
  a.store(from);
  for (int64_t g = 0; g < kLanes; ++g) to[activation_lane(g)] = from[g];
  return F32x16::load(to);
}

// How many groups of activations share a scale.
struct ScaleSharing {
  ScaleSharing() = default;
  explicit ScaleSharing(int64_t groups)
      : ratio(groups),
        shift(kGroupsPerBlock % groups == 0 ? __builtin_ctzll(static_cast<uint64_t>(groups)) : -1) {
  }
  int64_t ratio;
  int shift;  // its logarithm, or -1 if it does not divide a block
};

template <DType kType>
[[gnu::noinline]] F32x16 spread_any_scales(const std::byte* row, int64_t first, int64_t count,
                                           int64_t ratio) {
  float lanes[kLanes] = {};
  for (int64_t g = 0; g < count; ++g) {
    const auto at = static_cast<size_t>((first + g) / ratio);
    lanes[g] = load_float(kType, row + at * size_of(kType));
  }
  return transpose_groups(F32x16::load(lanes));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA

#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/linear/int8_factors_x86.h"
#include "kernels/linear/int8_scales_avx512.h"
#elif defined(LOCKSTEP_ISA_AVX2)
#include "kernels/linear/int8_factors_x86.h"
#include "kernels/linear/int8_scales_avx2.h"
#else
#include "kernels/linear/int8_factors_portable.h"
#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

// One binary16 factor before each group.
template <typename Format>
PlainFactors simple_factors(const uint8_t* blocks) {
  const F32x16 scale = leading_halves<Format>(blocks);
  // Exact, as are its products with sums of q: 11 bits times 12.
  return {scale, scale * F32x16::splat(-static_cast<float>(Format::kZero))};
}

template <typename Format>
auto factors_of(const uint8_t* blocks) {
  if constexpr (Format::kSums == 2) {
    return half_factors(blocks, blocks + Format::kBytes);
  } else if constexpr (Format::kGroups == 1) {
    return simple_factors<Format>(blocks);
  } else {
    return k_factors(blocks, blocks + Format::kBytes);
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
