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
constexpr int kColumns = 2;  // a lane takes part in: each row of q and k is read once for both
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
  float2 gates[kStageRows];  // decay, beta
};

// What a lane needs of one row.
struct Row {
  float4 k[kChunks], q[kChunks];
  float2 v;  // of both columns
  float2 gates;
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
  // 16-byte pieces: q and k by 64 neighbouring threads a row, v by eight.
  static_assert(kWarps * 32 == 128 && kDim == 128 && kBlockColumns == 32);
  const int piece = threadIdx.x % 64, of_key = piece / 32, at = piece % 32 * 4;
  const float* row = args.qkv + (sequence.first_row + first) * width;
  const float* keys = row + (of_key * args.key_heads + key_head) * kDim + at;
  for (int r = threadIdx.x / 64; r < rows; r += 2)
    copy_async_16(shared_address(of_key ? &stage.k[r][at] : &stage.q[r][at]), keys + r * width);
  const float* values = row + (2 * args.key_heads + head) * kDim + column + threadIdx.x % 8 * 4;
  if (const int r = threadIdx.x / 8; r < rows)
    copy_async_16(shared_address(&stage.v[r][threadIdx.x % 8 * 4]), values + r * width);
  for (int i = threadIdx.x; i < 2 * rows; i += blockDim.x) {
    const int r = i / 2;
    const int64_t at = int64_t{sequence.first_row + first + r} * args.value_heads + head;
    copy_async_4(shared_address(i % 2 == 0 ? &stage.gates[r].x : &stage.gates[r].y),
                 (i % 2 == 0 ? args.decay : args.beta) + at);
  }
}

__device__ inline Row load_row(const Stage& stage, int r, int lane, int column) {
  Row row;
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int at = 4 * (lane % kLanes + kLanes * i);
    row.k[i] = *reinterpret_cast<const float4*>(&stage.k[r][at]);
    row.q[i] = *reinterpret_cast<const float4*>(&stage.q[r][at]);
  }
  row.v = *reinterpret_cast<const float2*>(&stage.v[r][column]);
  row.gates = stage.gates[r];
  return row;
}

// A lane's share of the sum over a column of state times keys.
__device__ inline float partial_dot(const float4 (&s)[kChunks], const float4 (&k)[kChunks]) {
  float4 a = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    a.x = __fmaf_rn(s[i].x, k[i].x, a.x), a.y = __fmaf_rn(s[i].y, k[i].y, a.y);
    a.z = __fmaf_rn(s[i].z, k[i].z, a.z), a.w = __fmaf_rn(s[i].w, k[i].w, a.w);
  }
  return (a.x + a.y) + (a.z + a.w);
}

// Butterfly over a column's lanes from distance `from` on.
__device__ inline float add_lanes(float sum, int from) {
#pragma unroll
  for (int d = from; d < kLanes; d *= 2) sum = sum + __shfl_xor_sync(~0u, sum, d);
  return sum;
}

// One token. Returns an output: of the first column on even lanes, of the second on odd ones.
__device__ inline float step(float4 (&s)[kColumns][kChunks], const Row& row, bool odd) {
  float m[kColumns], o[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      float4& e = s[c][i];
      e.x = multiply_flushing(row.gates.x, e.x), e.y = multiply_flushing(row.gates.x, e.y);
      e.z = multiply_flushing(row.gates.x, e.z), e.w = multiply_flushing(row.gates.x, e.w);
    }
    m[c] = partial_dot(s[c], row.k);
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const float all = add_lanes(m[c], 1) * (1 / kStateFactor);
    const float d = row.gates.y * ((c == 0 ? row.v.x : row.v.y) - all) * kStateFactor;
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      float4& e = s[c][i];
      e.x = __fmaf_rn(row.k[i].x, d, e.x), e.y = __fmaf_rn(row.k[i].y, d, e.y);
      e.z = __fmaf_rn(row.k[i].z, d, e.z), e.w = __fmaf_rn(row.k[i].w, d, e.w);
    }
    o[c] = partial_dot(s[c], row.q);
  }
  // Each lane keeps one column: the first exchange of the butterfly serves both.
  const float other = __shfl_xor_sync(~0u, odd ? o[0] : o[1], 1);
  return add_lanes((odd ? o[1] : o[0]) + other, 2) * (1 / kStateFactor);
}

__global__ void __launch_bounds__(kWarps * 32, 3) scan_kernel(const GatedDeltaArgs args) {
  extern __shared__ __align__(16) uint8_t shared[];
  Stage* stages = reinterpret_cast<Stage*>(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int head = blockIdx.x / (kDim / kBlockColumns);
  const int block_column = blockIdx.x % (kDim / kBlockColumns) * kBlockColumns;
  const int column = warp * kWarpColumns + lane / kLanes * kColumns;  // the first, of this block
  allow_next_kernel();
  const DeltaSequence sequence = args.sequences[blockIdx.y];
  const int64_t state_at =
      (int64_t{head} * kDim + block_column + column) * kDim + 4 * (lane % kLanes);

  wait_for_previous_kernel();
  float4 s[kColumns][kChunks];
#pragma unroll
  for (int i = 0; i < kColumns * kChunks; ++i)
    s[i / kChunks][i % kChunks] = *reinterpret_cast<const float4*>(
        sequence.state_in + state_at + i / kChunks * kDim + 4 * kLanes * (i % kChunks));
  for (int ahead = 0; ahead < kStages - 1; ++ahead) {
    if (ahead * kStageRows < sequence.rows)
      fill_stage(stages[ahead], args, sequence, ahead * kStageRows, head, block_column);
    copy_async_commit();
  }

  const int64_t out_step = int64_t{args.value_heads} * kDim;
  float* out =
      args.out + sequence.first_row * out_step + head * kDim + block_column + column + lane % 2;
  for (int first = 0, turn = 0; first < sequence.rows; first += kStageRows, ++turn) {
    copy_async_wait<kStages - 2>();
    __syncthreads();
    const int next = first + (kStages - 1) * kStageRows;
    if (next < sequence.rows)
      fill_stage(stages[(turn + kStages - 1) % kStages], args, sequence, next, head, block_column);
    copy_async_commit();
    const Stage& stage = stages[turn % kStages];
    const int rows = min(kStageRows, sequence.rows - first);
    Row row = load_row(stage, 0, lane, column);
#pragma unroll 2
    for (int r = 0; r < rows; ++r) {
      const Row following = load_row(stage, min(r + 1, rows - 1), lane, column);
      const float o = step(s, row, lane % 2 != 0);
      if (lane % kLanes < kColumns) *out = o;
      out += out_step;
      row = following;
    }
  }
  copy_async_wait<0>();
#pragma unroll
  for (int i = 0; i < kColumns * kChunks; ++i)
    *reinterpret_cast<float4*>(sequence.state_out + state_at + i / kChunks * kDim +
                               4 * kLanes * (i % kChunks)) = s[i / kChunks][i % kChunks];
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
