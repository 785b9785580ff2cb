// Few queries: blocks take (key head, group) items, so that the whole GPU reads one sequence's
// keys; a second kernel merges the groups of each query. Eight warps share a group: 32 keys each
// for the scores, 32 dimensions each for the output; a ninth fetches.
#include <algorithm>

#include "kernels/attention/cuda_attention.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace lockstep::cuda {
namespace {

constexpr int kConsumers = 256;
constexpr int kThreads = kConsumers + 32;
constexpr int kRowBytes = kAttentionDim * 2 + 16;  // of q and of the weights in shared memory
constexpr int kMostQueries = 80;

template <int kTiles>  // of 16 queries
struct Shared {
  static constexpr int kSlots = kTiles == 1 ? 6 : kTiles == 3 ? 5 : 4;
  static constexpr int kQ = kSlots * kStageBytes;
  static constexpr int kP = kQ + kTiles * 16 * kRowBytes;
  static constexpr int kMax = kP + kTiles * 16 * kRowBytes;  // [queries][8 warps] floats
  static constexpr int kSum = kMax + kTiles * 16 * 8 * 4;    // [queries][8 warps][4 lanes]
  static constexpr int kBarriers = kSum + kTiles * 16 * 32 * 4;
  static constexpr int kBytes = kBarriers + kSlots * 16 + 1024;
};

__device__ inline void meet_consumers() {
  asm volatile("bar.sync 1, %0;" ::"n"(kConsumers) : "memory");
}

struct Ring {
  int slots, index = 0;
  uint32_t phase = 0;
  __device__ void advance() {
    if (++index == slots) {
      index = 0;
      phase ^= 1;
    }
  }
};

template <int kTiles>
__global__ void __launch_bounds__(kThreads, 1)
    few_row_kernel(const AttentionArgs args, const __grid_constant__ KvMaps maps, float* partial_o,
                   float2* partial_ml) {
  using S = Shared<kTiles>;
  extern __shared__ uint8_t shared_raw[];
  const uint32_t base = (shared_address(shared_raw) + 1023) / 1024 * 1024;
  uint8_t* const shared = shared_raw + (base - shared_address(shared_raw));
  const uint32_t full = base + S::kBarriers, empty = full + S::kSlots * 8;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int items = args.kv_heads * args.groups();
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::kSlots; ++i) {
      barrier_init(full + i * 8, 1);
      barrier_init(empty + i * 8, kConsumers / 32);
    }
    barrier_init_fence();
  }
  __syncthreads();
  allow_next_kernel();
  wait_for_previous_kernel();
  Ring ring = {S::kSlots};

  if (warp == kConsumers / 32) {
    if (lane != 0) return;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
      const int page = args.pages[item / args.kv_heads];
      const int row = (page * args.kv_heads + item % args.kv_heads) * kAttentionGroup;
      for (int stage = 0; stage < kStagesAGroup; ++stage) {
        barrier_wait(empty + ring.index * 8, ring.phase ^ 1);
        fetch_stage<1>(maps, stage, row, base + ring.index * kStageBytes, full + ring.index * 8, 0);
        ring.advance();
      }
    }
    return;
  }

  const int queries = args.queries(), groups = args.groups();
  const int end = args.first_position + args.rows;
  float* const maxima = reinterpret_cast<float*>(shared + S::kMax);
  float* const sums = reinterpret_cast<float*>(shared + S::kSum);
  const int g = lane / 4, t = lane % 4;
  const auto release = [&] {
    __syncwarp();
    if (lane == 0) barrier_arrive(empty + ring.index * 8);
    ring.advance();
  };
  int loaded_head = -1;
  for (int item = blockIdx.x; item < items; item += gridDim.x) {
    const int head = item % args.kv_heads, group = item / args.kv_heads;
    if (head != loaded_head) {
      meet_consumers();
      const uint4* from =
          reinterpret_cast<const uint4*>(args.q + int64_t{head} * queries * kAttentionDim);
      for (int i = threadIdx.x; i < kTiles * 16 * 32; i += kConsumers)
        *reinterpret_cast<uint4*>(shared + S::kQ + i / 32 * kRowBytes + i % 32 * 16) =
            from[min(i / 32, queries - 1) * 32 + i % 32];
      loaded_head = head;
      meet_consumers();
    }

    // Scores of this warp's 32 keys.
    float s[kTiles][4][4] = {};
    for (int stage = 0; stage < 4; ++stage) {
      if (stage % 2 == warp / 4) {
        barrier_wait(full + ring.index * 8, ring.phase);
        const uint32_t slot = base + ring.index * kStageBytes;
#pragma unroll
        for (int step = 0; step < 8; ++step) {
          uint32_t b[2][4];
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            const int key = warp % 4 * 32 + n * 16 + lane / 16 * 8 + lane % 8;
            load_matrix_x4(
                b[n], slot + step / 4 * 16384 + swizzled_offset(key, step % 4 * 2 + lane / 8 % 2));
          }
#pragma unroll
          for (int i = 0; i < kTiles; ++i) {
            uint32_t a[4];
            load_matrix_x4(a, base + S::kQ + (i * 16 + lane % 16) * kRowBytes + stage / 2 * 256 +
                                  step * 32 + lane / 16 * 16);
#pragma unroll
            for (int n = 0; n < 4; ++n)
              mma_bf16_16x8x16(s[i][n], a, b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
          }
        }
      }
      release();
    }

    // Maxima over the visible keys of the group.
    const int key0 = group * kAttentionGroup + warp * 32 + 2 * t;
    const auto position = [&](int query) { return args.first_position + query / args.heads_a_kv; };
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int query = i * 16 + h * 8 + g, last = position(query);
        float m = -INFINITY;
#pragma unroll
        for (int n = 0; n < 4; ++n)
#pragma unroll
          for (int c = 0; c < 2; ++c)
            if (key0 + n * 8 + c <= last) m = max_nan(m, s[i][n][2 * h + c]);
        m = max_nan(m, __shfl_xor_sync(~0u, m, 1));
        m = max_nan(m, __shfl_xor_sync(~0u, m, 2));
        if (t == 0) maxima[query * 8 + warp] = m;
      }
    meet_consumers();

    // Weights: rounded to shared memory, summed per lane.
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int query = i * 16 + h * 8 + g, last = position(query);
        float m = maxima[query * 8];
        for (int w = 1; w < 8; ++w) m = max_nan(m, maxima[query * 8 + w]);
        const float offset = -(m * kExponentFactor);
        float sum = 0;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          float p[2];
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const float weight =
                exp2_weight(__fmaf_rn(s[i][n][2 * h + c], kExponentFactor, offset));
            p[c] = key0 + n * 8 + c <= last ? weight : 0.0f;
            sum = sum + p[c];
          }
          *reinterpret_cast<uint32_t*>(shared + S::kP + query * kRowBytes + warp * 64 + n * 16 +
                                       t * 4) = round_weights(p[0], p[1]);
        }
        sums[(query * 8 + warp) * 4 + t] = sum;
      }
    meet_consumers();

    // Output of this warp's 32 dimensions.
    float o[kTiles][4][4] = {};
    for (int block = 0; block < 4; ++block) {
      barrier_wait(full + ring.index * 8, ring.phase);
      const uint32_t slot = base + ring.index * kStageBytes + warp / 2 * 8192;
      const int valid = end - group * kAttentionGroup - block * 64;  // rows with stored values
      if (valid < 64) {
        for (int i = lane; i < 64 * 4; i += 32)
          if (i / 4 >= valid)
            *reinterpret_cast<uint4*>(shared + (slot - base) +
                                      swizzled_offset(i / 4, warp % 2 * 4 + i % 4)) = uint4{};
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
      }
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        uint32_t b[2][4];
#pragma unroll
        for (int n = 0; n < 2; ++n)
          load_matrix_x4_transposed(b[n], slot + swizzled_offset(step * 16 + lane % 16,
                                                                 warp % 2 * 4 + n * 2 + lane / 16));
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          uint32_t a[4];
          load_matrix_x4(a, base + S::kP + (i * 16 + lane % 16) * kRowBytes + block * 128 +
                                step * 32 + lane / 16 * 16);
#pragma unroll
          for (int n = 0; n < 4; ++n)
            mma_bf16_16x8x16(o[i][n], a, b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
        }
      }
      release();
    }
    const int64_t first_query = int64_t{head} * queries;
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int query = i * 16 + h * 8 + g;
        if (query >= queries) continue;
        float* row =
            partial_o + ((first_query + query) * groups + group) * kAttentionDim + warp * 32;
#pragma unroll
        for (int n = 0; n < 4; ++n)
          *reinterpret_cast<float2*>(row + n * 8 + 2 * t) =
              make_float2(o[i][n][2 * h], o[i][n][2 * h + 1]);
      }
    for (int query = warp * 8 + g; query < kTiles * 16; query += kConsumers / 4) {
      float lane_sums[8], m = maxima[query * 8];
      for (int w = 0; w < 8; ++w) {
        lane_sums[w] = sums[(query * 8 + w) * 4 + t];
        m = max_nan(m, maxima[query * 8 + w]);
      }
      const float l = sum_weights(lane_sums);
      if (t == 0 && query < queries)
        partial_ml[(first_query + query) * groups + group] = make_float2(m, l);
    }
    meet_consumers();  // maxima, sums and weights are free again
  }
}

// One block a query, one thread a dimension.
__global__ void __launch_bounds__(kAttentionDim)
    merge_kernel(const float* partial_o, const float2* partial_ml, int groups, float* out) {
  extern __shared__ float4 factors[];  // a, b, m of the groups so far, l
  const int64_t query = blockIdx.x;
  allow_next_kernel();
  wait_for_previous_kernel();
  const float2* ml = partial_ml + query * groups;
  // Greatest so far, by one warp: the greatest of a range has no rounding.
  if (threadIdx.x < 32) {
    float before = -INFINITY;
    for (int first = 0; first < groups; first += 32) {
      const int i = first + threadIdx.x;
      const float2 here = i < groups ? ml[i] : make_float2(-INFINITY, 0);
      float m = here.x;
      for (int d = 1; d < 32; d *= 2) {
        const float other = __shfl_up_sync(~0u, m, d);
        if (threadIdx.x >= d) m = max_nan(m, other);
      }
      m = max_nan(m, before);
      if (i < groups) factors[i] = make_float4(here.x, 0, m, here.y);
      before = __shfl_sync(~0u, m, 31);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < groups; i += blockDim.x) {
    const MergeFactors f = merge_factors(i > 0 ? factors[i - 1].z : -INFINITY, factors[i].x);
    factors[i].y = f.b;
    reinterpret_cast<float*>(factors + groups)[i] = f.a;
  }
  __syncthreads();
  const float* o_at = partial_o + query * groups * kAttentionDim + threadIdx.x;
  float l = 0, o = 0;
  constexpr int kBatch = 16;
  for (int first = 0; first < groups; first += kBatch) {
    float v[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (first + i < groups) v[i] = o_at[int64_t{first + i} * kAttentionDim];
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (first + i < groups) {
        const float4 f = factors[first + i];
        const float a = reinterpret_cast<float*>(factors + groups)[first + i];
        l = __fmaf_rn(a, l, f.y * f.w);
        o = __fmaf_rn(a, o, f.y * v[i]);
      }
  }
  out[query * kAttentionDim + threadIdx.x] = o / l;
}

}  // namespace

Status attention_few_row(const AttentionArgs& args, float* scratch, CUstream_st* stream) {
  if (args.queries() > kMostQueries)
    return Error{ErrorCode::kUnsupported, "few-row attention: at most 80 queries a key head"};
  LOCKSTEP_ASSIGN_OR_RETURN(const KvMaps maps, kv_maps(args, 1));
  const int groups = args.groups();
  const int64_t queries = int64_t{args.kv_heads} * args.queries();
  auto* partial_ml = reinterpret_cast<float2*>(scratch);
  float* partial_o = scratch + 2 * queries * groups;
  const auto start = [&](auto kernel, int bytes) {
    const LaunchShape shape = {
        .grid = dim3(static_cast<unsigned>(std::min(132, args.kv_heads * groups))),
        .block = dim3(kThreads),
        .shared_bytes = static_cast<size_t>(bytes),
        .overlap = args.overlap};
    return launch("attention few-row", kernel, shape, stream, args, maps, partial_o, partial_ml);
  };
  const Status started = args.queries() <= 16   ? start(few_row_kernel<1>, Shared<1>::kBytes)
                         : args.queries() <= 48 ? start(few_row_kernel<3>, Shared<3>::kBytes)
                                                : start(few_row_kernel<5>, Shared<5>::kBytes);
  if (!started) return started;
  const LaunchShape merge = {.grid = dim3(static_cast<unsigned>(queries)),
                             .block = dim3(kAttentionDim),
                             .shared_bytes = groups * (sizeof(float4) + sizeof(float)),
                             .overlap = true};
  return launch("attention merge", merge_kernel, merge, stream, partial_o, partial_ml, groups,
                args.out);
}

}  // namespace lockstep::cuda
