#include "kernels/moe_combine/cuda_combine.h"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pipeline.cuh"

namespace lockstep::cuda {
namespace {

__global__ void combine_rows(const CombineArgs args) {
  allow_next_kernel();
  wait_for_previous_kernel();
  const int64_t row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;  // of four
  if (column * 4 >= args.n) return;
  float4 acc = make_float4(0, 0, 0, 0);
  for (int j = 0; j < args.chosen; ++j) {
    const int64_t position = args.position_of[row * args.chosen + j];
    const float weight = args.weights[row * args.chosen + j];
    const float4 v = reinterpret_cast<const float4*>(args.down + position * args.n)[column];
    acc.x = __fmaf_rn(weight, v.x, acc.x), acc.y = __fmaf_rn(weight, v.y, acc.y);
    acc.z = __fmaf_rn(weight, v.z, acc.z), acc.w = __fmaf_rn(weight, v.w, acc.w);
  }
  reinterpret_cast<float4*>(args.y + row * args.n)[column] = acc;
}

}  // namespace

Status combine_slots(const CombineArgs& args, Stream stream) {
  const LaunchShape shape = {.grid = dim3(static_cast<unsigned>((args.n / 4 + 127) / 128),
                                          static_cast<unsigned>(args.rows)),
                             .block = dim3(128),
                             .overlap = args.overlap};
  return launch("combine slots", combine_rows, shape, stream, args);
}

}  // namespace lockstep::cuda
