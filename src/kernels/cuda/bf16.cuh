// bf16 values on the device. Rounding is ours: nearest, ties to even (docs/numerics.md, rule 4);
// the hardware conversion rounds the same way, but gives every NaN one payload.
#pragma once

#include <cstdint>

namespace lockstep::cuda {

__device__ inline float bf16_to_float(uint16_t bits) {
  return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}

// The two bf16 values of a word: the low half is the earlier element.
__device__ inline float bf16_low(uint32_t word) { return __uint_as_float(word << 16); }
__device__ inline float bf16_high(uint32_t word) { return __uint_as_float(word & 0xffff0000u); }

// A NaN stays a NaN: it becomes quiet instead of rounding up to infinity.
__device__ inline uint16_t float_to_bf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ inline uint32_t pack_bf16(float low, float high) {
  return static_cast<uint32_t>(float_to_bf16(low)) |
         (static_cast<uint32_t>(float_to_bf16(high)) << 16);
}

// Two bf16 lanes of a * b + c with one rounding each.
__device__ inline uint32_t fma_bf16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

}  // namespace lockstep::cuda
