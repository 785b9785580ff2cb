// The fixed logical width of every float sum on CPU: 16 lanes of float32, whatever the instruction
// set (docs/numerics.md, rule 10). Include it only in sources that the build compiles per
// instruction set (ISA_SRCS): everything here has internal linkage, so that no object exports code
// of another ISA.
//
// Semantics that differ between processors are fixed here:
//   max(a, b) = a > b ? a : b and min(a, b) = a < b ? a : b, also for NaN and signed zeros;
//   fma rounds once; conversions to bf16 round to nearest even and keep NaN.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/simd/f32x16_avx512.h"
#elif defined(LOCKSTEP_ISA_AVX2)
#include "kernels/simd/f32x16_avx2.h"
#elif defined(LOCKSTEP_ISA_NEON)
#include "kernels/simd/f32x16_neon.h"
#elif defined(LOCKSTEP_ISA_SCALAR)
#include "kernels/simd/f32x16_scalar.h"
#else
#error "compile this source through ISA_SRCS of lockstep_library"
#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int64_t kLanes = 16;

inline F32x16 operator-(F32x16 a) { return F32x16::splat(-0.0f) - a; }  // -0 for +0, too

// Loads n < 16 elements; the other lanes are zero.
inline F32x16 load_partial(const void* address, int64_t n) {
  float lanes[kLanes] = {};
  std::memcpy(lanes, address, static_cast<size_t>(n) * sizeof(float));
  return F32x16::load(lanes);
}

inline void store_partial(F32x16 v, void* address, int64_t n) {
  float lanes[kLanes];
  v.store(lanes);
  std::memcpy(address, lanes, static_cast<size_t>(n) * sizeof(float));
}

// n of at least 16 means a whole vector: one loop serves the body and the tail of a row.
inline F32x16 load_up_to(const float* address, int64_t n) {
  return n >= kLanes ? F32x16::load(address) : load_partial(address, n);
}
inline void store_up_to(F32x16 v, float* address, int64_t n) {
  n >= kLanes ? v.store(address) : store_partial(v, address, n);
}

// Rounds to bf16 (nearest even, NaN kept quiet) and back: what a cache of that type returns.
inline I32x16 bf16_bits(F32x16 v) {
  const I32x16 bits = as_i32(v);
  const I32x16 odd = shift_right_logical<16>(bits) & I32x16::splat(1);
  const I32x16 rounded = shift_right_logical<16>(bits + I32x16::splat(0x7fff) + odd);
  const I32x16 quiet = shift_right_logical<16>(bits) | I32x16::splat(0x40);
  return select(is_nan(v), quiet, rounded);
}

inline F32x16 round_to_bf16(F32x16 v) { return as_f32(shift_left<16>(bf16_bits(v))); }

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
