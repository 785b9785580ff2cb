// The exponential of every CUDA kernel (docs/numerics.md, rule 5).
#pragma once

#include <cstdint>

namespace lockstep::cuda {

// Greatest of two; NaN if either is.
__device__ inline float max_nan(float a, float b) {
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

// 2^x for x <= 0 within 1e-7, 2^-126 below -126; exactly 1 at 0; NaN stays NaN. The polynomial is a
// minimax fit of degree 6 on [-1/2, 1/2] with its constant held at 1.
__device__ inline float exp2_weight(float x) {
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits
  const float t = max_nan(x, -126.0f);
  const float shifted = t + kRound;
  const float f = t - (shifted - kRound);
  float p = 0x1.41d334p-13f;
  p = __fmaf_rn(p, f, 0x1.5f456ap-10f);
  p = __fmaf_rn(p, f, 0x1.3b2dbcp-7f);
  p = __fmaf_rn(p, f, 0x1.c6aed4p-5f);
  p = __fmaf_rn(p, f, 0x1.ebfbdap-3f);
  p = __fmaf_rn(p, f, 0x1.62e430p-1f);
  p = __fmaf_rn(p, f, 1.0f);
  return p * __uint_as_float((__float_as_uint(shifted) << 23) + 0x3f800000u);
}

// 1 / (1 + e^-x), by an exponent that is never positive.
__device__ inline float sigmoid(float x) {
  const float e = exp2_weight(-fabsf(x) * 0x1.715476p0f);
  return (x >= 0 ? 1.0f : e) / (1.0f + e);
}

}  // namespace lockstep::cuda
