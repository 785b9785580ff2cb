// exp, sigmoid, silu and softplus for kernels, one definition for all instruction sets: the same
// operations in the same order in every lane, so the same bits (docs/numerics.md, rule 5).
#pragma once

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// e^x within 1.5 ulp over the whole range; gradual underflow; overflow gives infinity; NaN stays
// NaN. Cody-Waite reduction x = n ln 2 + r, |r| <= ln 2 / 2, and the Taylor polynomial of degree 7
// (its remainder there is below 2^-27), then two exact-until-the-end scalings by powers of two.
inline F32x16 exp(F32x16 x) {
  const F32x16 magic = F32x16::splat(0x1.8p23f);  // adding it rounds to an integer, ties to even
  // Beyond these bounds the result is 0 or infinity anyway. max keeps NaN out; it returns at the
  // end.
  const F32x16 clamped = min(max(x, F32x16::splat(-104.0f)), F32x16::splat(89.0f));
  const F32x16 shifted = fma(clamped, F32x16::splat(0x1.715476p0f), magic);
  const F32x16 n = shifted - magic;
  F32x16 r = fma(n, F32x16::splat(-0x1.62e4p-1f), clamped);  // ln 2, upper 15 bits: n * it is exact
  r = fma(n, F32x16::splat(-0x1.7f7d1cp-20f), r);            // ln 2, the rest
  F32x16 p = F32x16::splat(1.0f / 5040.0f);
  p = fma(p, r, F32x16::splat(1.0f / 720.0f));
  p = fma(p, r, F32x16::splat(1.0f / 120.0f));
  p = fma(p, r, F32x16::splat(1.0f / 24.0f));
  p = fma(p, r, F32x16::splat(1.0f / 6.0f));
  p = fma(p, r, F32x16::splat(0.5f));
  p = fma(p, r, F32x16::splat(1.0f));
  p = fma(p, r, F32x16::splat(1.0f));
  const I32x16 exponent = as_i32(shifted) - I32x16::splat(0x4b400000);
  const I32x16 half = shift_right<1>(exponent);
  const auto power_of_two = [](I32x16 e) { return as_f32(shift_left<23>(e + I32x16::splat(127))); };
  const F32x16 result = p * power_of_two(half) * power_of_two(exponent - half);
  return select(is_nan(x), x, result);
}

inline F32x16 sigmoid(F32x16 x) {
  const F32x16 one = F32x16::splat(1.0f);
  return one / (one + exp(-x));
}

inline F32x16 silu(F32x16 x) { return x / (F32x16::splat(1.0f) + exp(-x)); }

// ln(1 + y) for 0 <= y <= 1, within 2 ulp: 2 atanh(s), s = y / (2 + y), after one halving step of 1
// + y where y > sqrt(2) - 1. |s| < 0.172, so the odd series to s^11 leaves less than 2^-30
// relative.
inline F32x16 log1p_unit(F32x16 y) {
  const Mask16 low = less(y, F32x16::splat(0.41421354f));
  const F32x16 z = select(low, y, (y - F32x16::splat(1.0f)) * F32x16::splat(0.5f));
  const F32x16 s = z / (z + F32x16::splat(2.0f));
  const F32x16 t = s * s;
  F32x16 p = F32x16::splat(2.0f / 11.0f);
  p = fma(p, t, F32x16::splat(2.0f / 9.0f));
  p = fma(p, t, F32x16::splat(2.0f / 7.0f));
  p = fma(p, t, F32x16::splat(2.0f / 5.0f));
  p = fma(p, t, F32x16::splat(2.0f / 3.0f));
  const F32x16 series = fma(p * t, s, s + s);
  return select(low, series, series + F32x16::splat(0x1.62e43p-1f));
}

// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
inline F32x16 softplus(F32x16 x) {
  const F32x16 tail = log1p_unit(exp(-abs(x)));
  return select(is_nan(x), x, max(x, F32x16::zero()) + tail);
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
