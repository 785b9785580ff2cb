#include "kernels/silu_mul/cuda_silu_mul.h"

#include "kernels/cuda/exp2.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/linear/cuda_round.cuh"

namespace lockstep::cuda {
namespace {

__device__ inline float silu_mul(float gate, float up) { return gate * sigmoid(gate) * up; }

// One warp a group of 64 elements, eight groups a block.
__global__ void silu_mul_rows(const float* in, int rows, const RoundedRowShape shape, uint16_t* x,
                              uint16_t* sums) {
  allow_next_kernel();
  const int64_t item = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  const int64_t row = item / shape.padded_groups();
  const int group = item % shape.padded_groups(), lane = threadIdx.x % 32;
  wait_for_previous_kernel();
  if (row >= rows) return;
  float2 v = make_float2(0, 0);
  if (group < shape.groups) {
    const auto* gates = reinterpret_cast<const float2*>(in + row * 2 * shape.groups * kGroup);
    const float2 gate = gates[group * 32 + lane];
    const float2 up = gates[(shape.groups + group) * 32 + lane];
    v = make_float2(silu_mul(gate.x, up.x), silu_mul(gate.y, up.y));
  }
  store_rounded_group(v, row, group, shape, x, sums);
}

}  // namespace

Status silu_mul_round(Way way, const float* in, int rows, int inputs, uint16_t* x, uint16_t* sums,
                      bool overlap, Stream stream) {
  const RoundedRowShape rounded = rounded_row_shape(way, inputs);
  const int64_t warps = int64_t{rows} * rounded.padded_groups();
  const LaunchShape shape = {
      .grid = dim3(static_cast<unsigned>((warps + 7) / 8)), .block = dim3(256), .overlap = overlap};
  return launch("silu_mul_rows", silu_mul_rows, shape, stream, in, rows, rounded, x, sums);
}

}  // namespace lockstep::cuda
