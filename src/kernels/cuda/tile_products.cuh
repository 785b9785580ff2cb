// One 64 x 64 product y[token, weight] = sum_k x[token, k] * w[weight, k] by each instruction form
// the kernels use, in ascending k16 steps from +0: the probes of the self-test and of the study.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace lockstep::cuda {

enum class Form {
  kWarpWeightsFirst,  // mma.sync, weights as A
  kWarpTokensFirst,   // mma.sync, tokens as A
  kGroupRegisters,    // wgmma, weights as A from registers
  kGroupShared,       // wgmma, tokens as A from shared memory
};
inline constexpr int kForms = 4;
inline constexpr int kProbe = 64;  // tokens and weights

// A fragment (mma.cuh) of rows `row`..row+15 at column k of a row-major bf16 matrix.
__device__ inline void load_fragment(const uint16_t* m, int64_t columns, int row, int64_t k,
                                     int lane, uint32_t (&a)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    a[i] = *reinterpret_cast<const uint32_t*>(m + (row + lane / 4 + i % 2 * 8) * columns + k +
                                              lane % 4 * 2 + i / 2 * 8);
}

// 64 rows x 64 columns from column k into a swizzled tile, by 128 threads.
__device__ inline void load_swizzled(const uint16_t* m, int64_t columns, int64_t k, uint8_t* tile) {
  for (int i = threadIdx.x; i < kProbe * 8; i += 128)
    *reinterpret_cast<uint4*>(tile + swizzled_offset(i / 8, i % 8)) =
        *reinterpret_cast<const uint4*>(m + i / 8 * columns + k + i % 8 * 8);
}

// 128 threads; `columns` a multiple of 64, rows 16-byte aligned; 16 KiB of shared memory at a
// multiple of 1024.
template <Form kForm>
__device__ void tile_product(const uint16_t* w, const uint16_t* x, int64_t columns, float* y,
                             uint8_t* shared) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool weights_first = kForm == Form::kWarpWeightsFirst || kForm == Form::kGroupRegisters;
  const uint16_t* first = weights_first ? w : x;
  const uint16_t* second = weights_first ? x : w;
  float d[32] = {};  // (16 warp + g (+8), 8j + 2t (+1)): both families share the layout
  for (int64_t k = 0; k < columns; k += 64) {
    if constexpr (kForm == Form::kWarpWeightsFirst || kForm == Form::kWarpTokensFirst) {
      for (int s = 0; s < 4; ++s) {
        uint32_t a[4];
        load_fragment(first, columns, warp * 16, k + s * 16, lane, a);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const uint16_t* b = second + (j * 8 + lane / 4) * columns + k + s * 16 + lane % 4 * 2;
          float c[4] = {d[4 * j], d[4 * j + 1], d[4 * j + 2], d[4 * j + 3]};
          mma_bf16_16x8x16(c, a, *reinterpret_cast<const uint32_t*>(b),
                           *reinterpret_cast<const uint32_t*>(b + 8));
#pragma unroll
          for (int i = 0; i < 4; ++i) d[4 * j + i] = c[i];
        }
      }
    } else {
      __syncthreads();
      load_swizzled(second, columns, k, shared);
      if (kForm == Form::kGroupShared) load_swizzled(first, columns, k, shared + 8192);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      const uint64_t b = swizzled_operand(shared_address(shared), 0, 1024);
      uint32_t a[4][4];
      if constexpr (kForm == Form::kGroupRegisters)
        for (int s = 0; s < 4; ++s)
          load_fragment(first, columns, warp * 16, k + s * 16, lane, a[s]);
      wgmma_arrive();
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        if constexpr (kForm == Form::kGroupRegisters)
          wgmma_m64n64k16_rs(d, a[s], b + s * 2, k + s > 0);
        else
          wgmma_m64n64k16_ss(d, swizzled_operand(shared_address(shared + 8192), 0, 1024) + s * 2,
                             b + s * 2, k + s > 0);
      }
      wgmma_commit();
      wgmma_wait<0>();
    }
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    y[weights_first ? column * kProbe + row : row * kProbe + column] = d[i];
  }
}

}  // namespace lockstep::cuda
