// A block holds 32 value columns of one head in registers and walks through the rows of one
// sequence; q, k, v, decay and beta of the next rows are copied to shared memory meanwhile.
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/gated_delta/cuda_gated_delta.h"

namespace lockstep::cuda {
namespace {

constexpr int kDim = 128;    // of keys and of values
constexpr int kLanes = 8;    // a value column
constexpr int kColumns = 2;  // a lane takes part in
constexpr int kWarpColumns = 32 / kLanes * kColumns;
constexpr int kWarps = 4;
constexpr int kBlockColumns = kWarps * kWarpColumns;
constexpr int kChunks = kDim / 4 / kLanes;  // float4 of a column on one lane
constexpr int kStageRows = 16;
constexpr int kStages = 3;

struct Stage {
  float q[kStageRows][kDim];
  float k[kStageRows][kDim];
  float v[kStageRows][kBlockColumns];
  float decay[kStageRows];
  float beta[kStageRows];
};

__device__ inline void copy_async_4(uint32_t to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

// A product that flushes below 2^-126.
__device__ inline float multiply_flushing(float a, float b) {
  float c;
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

// Starts the copy of rows [first, first + kStageRows) of a sequence, as far as it goes.
__device__ void fill_stage(Stage& stage, const GatedDeltaArgs& args, const DeltaSequence& sequence,
                           int first, int head, int column) {
  const int key_head = head / (args.value_heads / args.key_heads);
  const int64_t width = int64_t{2 * args.key_heads + args.value_heads} * kDim;
  const int rows = min(kStageRows, sequence.rows - first);
  constexpr int kVectors = (2 * kDim + kBlockColumns) / 4;  // 16-byte pieces of a row
  for (int i = threadIdx.x; i < rows * kVectors; i += blockDim.x) {
    const int r = i / kVectors, piece = i % kVectors;
    const float* row = args.qkv + (sequence.first_row + first + r) * width;
    if (piece < kDim / 4)
      copy_async_16(shared_address(&stage.q[r][piece * 4]), row + key_head * kDim + piece * 4);
    else if (piece < kDim / 2)
      copy_async_16(shared_address(&stage.k[r][piece * 4 - kDim]),
                    row + (args.key_heads + key_head) * kDim + piece * 4 - kDim);
    else
      copy_async_16(shared_address(&stage.v[r][piece * 4 - 2 * kDim]),
                    row + (2 * args.key_heads + head) * kDim + column + piece * 4 - 2 * kDim);
  }
  for (int i = threadIdx.x; i < 2 * rows; i += blockDim.x) {
    const int r = i / 2;
    const int64_t at = int64_t{sequence.first_row + first + r} * args.value_heads + head;
    copy_async_4(shared_address(i % 2 == 0 ? &stage.decay[r] : &stage.beta[r]),
                 (i % 2 == 0 ? args.decay : args.beta) + at);
  }
}

// A lane's share of a row of q or k, times `factor`.
__device__ inline void load_keys(const float (&row)[kDim], int lane, float factor,
                                 float (&out)[kChunks][4]) {
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const float4 v = *reinterpret_cast<const float4*>(&row[4 * (lane % kLanes + kLanes * i)]);
    out[i][0] = v.x * factor, out[i][1] = v.y * factor;
    out[i][2] = v.z * factor, out[i][3] = v.w * factor;
  }
}

// The sum over a column of state times keys, on all its lanes.
__device__ inline float dot(const float (&s)[kChunks][4], const float (&k)[kChunks][4]) {
  float a[4] = {};
#pragma unroll
  for (int i = 0; i < kChunks; ++i)
#pragma unroll
    for (int c = 0; c < 4; ++c) a[c] = __fmaf_rn(s[i][c], k[i][c], a[c]);
  float sum = (a[0] + a[1]) + (a[2] + a[3]);
#pragma unroll
  for (int d = 1; d < kLanes; d *= 2) sum = sum + __shfl_xor_sync(~0u, sum, d);
  return sum;
}

__global__ void __launch_bounds__(kWarps * 32) scan_kernel(const GatedDeltaArgs args) {
  extern __shared__ __align__(16) uint8_t shared[];
  Stage* stages = reinterpret_cast<Stage*>(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int head = blockIdx.x / (kDim / kBlockColumns);
  const int block_column = blockIdx.x % (kDim / kBlockColumns) * kBlockColumns;
  const int within = warp * kWarpColumns + lane / kLanes * kColumns;  // column of this block
  allow_next_kernel();
  const DeltaSequence sequence = args.sequences[blockIdx.y];

  float s[kColumns][kChunks][4];
  const auto state_at = [&](int column, int chunk) {
    return (int64_t{head} * kDim + block_column + within + column) * kDim +
           4 * (lane % kLanes + kLanes * chunk);
  };
  wait_for_previous_kernel();
  for (int ahead = 0; ahead < kStages - 1; ++ahead) {
    if (ahead * kStageRows < sequence.rows)
      fill_stage(stages[ahead], args, sequence, ahead * kStageRows, head, block_column);
    copy_async_commit();
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c)
#pragma unroll
    for (int i = 0; i < kChunks; ++i)
      *reinterpret_cast<float4*>(s[c][i]) =
          *reinterpret_cast<const float4*>(sequence.state_in + state_at(c, i));

  for (int first = 0, turn = 0; first < sequence.rows; first += kStageRows, ++turn) {
    copy_async_wait<kStages - 2>();
    __syncthreads();
    const int next = first + (kStages - 1) * kStageRows;
    if (next < sequence.rows)
      fill_stage(stages[(turn + kStages - 1) % kStages], args, sequence, next, head, block_column);
    copy_async_commit();
    const Stage& stage = stages[turn % kStages];
    const int rows = min(kStageRows, sequence.rows - first);
    for (int r = 0; r < rows; ++r) {
      float k[kChunks][4], q[kChunks][4], m[kColumns], d[kColumns];
      load_keys(stage.k[r], lane, 1 / kStateFactor, k);
      const float decay = stage.decay[r], beta = stage.beta[r];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
#pragma unroll
        for (int i = 0; i < kChunks; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) s[c][i][j] = multiply_flushing(decay, s[c][i][j]);
        m[c] = dot(s[c], k);
      }
      load_keys(stage.k[r], lane, kStateFactor, k);
      load_keys(stage.q[r], lane, 1 / kStateFactor, q);
      float o[kColumns];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        d[c] = beta * (stage.v[r][within + c] - m[c]);
#pragma unroll
        for (int i = 0; i < kChunks; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) s[c][i][j] = __fmaf_rn(k[i][j], d[c], s[c][i][j]);
        o[c] = dot(s[c], q);
      }
      if (lane % kLanes == 0) {
        float* out = args.out +
                     (int64_t{sequence.first_row + first + r} * args.value_heads + head) * kDim +
                     block_column + within;
        *reinterpret_cast<float2*>(out) = make_float2(o[0], o[1]);
      }
    }
  }
  copy_async_wait<0>();
#pragma unroll
  for (int c = 0; c < kColumns; ++c)
#pragma unroll
    for (int i = 0; i < kChunks; ++i)
      *reinterpret_cast<float4*>(sequence.state_out + state_at(c, i)) =
          *reinterpret_cast<const float4*>(s[c][i]);
}

}  // namespace

Status gated_delta_scan(const GatedDeltaArgs& args, CUstream_st* stream) {
  if (args.key_heads <= 0 || args.value_heads % args.key_heads != 0)
    return Error{ErrorCode::kUnsupported,
                 "gated delta: value heads must be a multiple of key heads"};
  const LaunchShape shape = {
      .grid = dim3(static_cast<unsigned>(args.value_heads * (kDim / kBlockColumns)),
                   static_cast<unsigned>(args.sequence_count)),
      .block = dim3(kWarps * 32),
      .shared_bytes = kStages * sizeof(Stage),
      .overlap = args.overlap};
  return launch("gated delta scan", scan_kernel, shape, stream, args);
}

}  // namespace lockstep::cuda
