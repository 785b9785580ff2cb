// MLX affine 4-bit weights (group 64) as the tensor core kernels read them, and the two ways to
// feed them (docs/numerics.md, rule 14).
//
// Layout, T = row tiles of 16 outputs, G = groups of 64 inputs (a multiple of 8):
//   q       [T][G][32 lanes][16 bytes]  word s of lane 4g+t: the A fragment of k = 16s..16s+15,
//   nibble
//           j the low and nibble j+4 the high element of register j (mma.cuh)
//   scales  [T][G/4][8 g][16 bytes]     for each of the four groups: bf16 of row g, bf16 of row g+8
//   biases  exact integers: [T][G/8][32 lanes][8 bytes], groups 2t and 2t+1 of row g, then of row
//   g+8;
//           rounded weights: as the scales
//
// An exact integer enters as a bf16 subnormal: the bits of q in 0..255 are the value q * 2^-133, so
// a mask is all it takes. Row g has q in bits 0..3 and row g+8 in bits 4..7 (16 q). The activations
// carry 2^64 and the stored scales the rest, 2^69 and 2^65: powers of two, so no rounding depends
// on them.
#pragma once

#include <cstdint>

#include "kernels/cuda/bf16.cuh"
#include "kernels/linear/cuda_linear.h"

namespace lockstep::cuda {

inline constexpr int kTileRows = 16;
inline constexpr int kGroup = 64;
inline constexpr int kQuad = 4;   // groups whose scales are loaded together
inline constexpr int kOctet = 8;  // groups whose bias enters in one k16 step
inline constexpr int kTileBytes = 512;
inline constexpr int kQuadBytes = 128;
inline constexpr int kOctetBytes = 256;

inline constexpr float kActivationFactor = 0x1p64f;
inline constexpr float kScaleFactor[2] = {0x1p69f, 0x1p65f};  // rows g, rows g+8

// The exact integers of one k16 step, as subnormals.
__device__ inline void unpack_integers(uint32_t word, uint32_t (&a)[4]) {
  const uint32_t upper = word >> 8;
  a[0] = word & 0x000f000fu;
  a[1] = word & 0x00f000f0u;
  a[2] = upper & 0x000f000fu;
  a[3] = upper & 0x00f000f0u;
}

// The rounded weights of one k16 step; `scales` and `biases` hold row g low and row g+8 high.
__device__ inline void unpack_weights(uint32_t word, uint32_t scales, uint32_t biases,
                                      uint32_t (&a)[4]) {
  constexpr uint32_t k128 = 0x43004300u;  // bf16 pair of 128: the mantissa of 128 + q ends in q
  const uint32_t s[2] = {__byte_perm(scales, 0, 0x1010), __byte_perm(scales, 0, 0x3232)};
  const uint32_t b[2] = {__byte_perm(biases, 0, 0x1010), __byte_perm(biases, 0, 0x3232)};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    uint32_t offset, q;  // (shifted & mask) | 128 in one instruction
    asm("lop3.b32 %0, %1, %2, %3, 0xea;"
        : "=r"(offset)
        : "r"(word >> (4 * j)), "n"(0x000f000f), "n"(k128));
    asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(q) : "r"(offset), "r"(k128));
    a[j] = fma_bf16x2(q, s[j & 1], b[j & 1]);
  }
}

__device__ inline uint32_t word_of(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

}  // namespace lockstep::cuda
