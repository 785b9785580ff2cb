// Rounding of activations for the products (cuda_linear.h, round_activations), for kernels that end
// in it.
#pragma once

#include "kernels/linear/cuda_affine4.cuh"

namespace lockstep::cuda {

struct RoundedRowShape {
  int groups = 0;
  int columns = 0;   // of the sums
  float factor = 1;  // on the stored values
  __host__ __device__ int padded_groups() const { return columns / 2; }
};

inline RoundedRowShape rounded_row_shape(Way way, int inputs) {
  return {inputs / kGroup, sum_columns(inputs),
          way == Way::kExactIntegers ? kActivationFactor : 1.0f};
}

// Called by a whole warp with elements 2l, 2l+1 of a group on lane l; zeros beyond the last group.
__device__ inline void store_rounded_group(float2 v, int64_t row, int group,
                                           const RoundedRowShape& shape, uint16_t* x,
                                           uint16_t* sums) {
  const int lane = threadIdx.x % 32;
  const uint32_t pair = pack_bf16(v.x, v.y);
  float sum = bf16_low(pair) + bf16_high(pair);
  for (int d = 16; d > 0; d /= 2) sum = sum + __shfl_xor_sync(~0u, sum, d);
  if (group < shape.groups)
    reinterpret_cast<uint32_t*>(x + (row * shape.groups + group) * kGroup)[lane] =
        pack_bf16(v.x * shape.factor, v.y * shape.factor);
  if (lane == 0) {
    const uint16_t high = float_to_bf16(sum);
    uint16_t* octet = sums + row * shape.columns + group / kOctet * 16 + group % kOctet;
    octet[0] = high;
    octet[kOctet] = float_to_bf16(sum - bf16_to_float(high));
  }
}

}  // namespace lockstep::cuda
