// Sums over one row in the logical width of 16 lanes.
#pragma once

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Sum of x^2: element i joins lane i mod 16 by fma, ascending, then the tree 16-8-4-2-1.
inline float sum_of_squares(const float* x, int64_t n) {
  F32x16 sum = F32x16::zero();
  for (int64_t i = 0; i < n; i += kLanes) {
    const F32x16 v = load_up_to(x + i, n - i);
    sum = fma(v, v, sum);
  }
  return reduce_add(sum);
}

// 1 / sqrt(x), each of the two operations rounded, in every lane.
inline F32x16 inverse_root(float x) { return F32x16::splat(1.0f) / sqrt(F32x16::splat(x)); }

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
