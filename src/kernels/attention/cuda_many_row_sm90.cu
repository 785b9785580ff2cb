// Many queries: a block takes 64 queries of a key head through all their groups. Two warpgroups
// share the tile: 128 keys of a group each for the scores, 128 dimensions each for the output; the
// weights pass between them in shared memory. Two blocks form a cluster and fetch half of each
// stage for both.
#include <algorithm>

#include "kernels/attention/cuda_attention.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace lockstep::cuda {
namespace {

constexpr int kRanks = 2;
constexpr int kQueries = 64;  // a block
constexpr int kConsumers = 256;
constexpr int kThreads = kConsumers + 128;
constexpr int kSlots = 5;
constexpr int kTileBytes = kQueries * kAttentionDim * 2;  // of q, and of the weights

// Shared memory, from a multiple of 1024.
constexpr int kQAt = kSlots * kStageBytes;
constexpr int kPAt = kQAt + kTileBytes;
constexpr int kMaxAt = kPAt + kTileBytes;  // [2 halves][queries] floats
constexpr int kSumAt = kMaxAt + 2 * kQueries * 4;
constexpr int kBarriersAt = kSumAt + 2 * kQueries * 4;  // full, empty, q full, q empty
constexpr int kSharedBytes = kBarriersAt + (2 * kSlots + 2) * 8 + 1024;

struct Maps {
  KvMaps kv;
  CUtensorMap q;
};

// A cluster's work: two neighbouring tiles of one head, the longest first.
struct Item {
  int head, tile, groups;
};

class Schedule {
 public:
  __device__ explicit Schedule(const AttentionArgs& args)
      : args_(args), pairs_((args.queries() + kRanks * kQueries - 1) / (kRanks * kQueries)) {}
  __device__ int total() const { return pairs_ * args_.kv_heads; }
  __device__ int first() const { return blockIdx.x / kRanks; }
  __device__ int step() const { return gridDim.x / kRanks; }
  __device__ Item at(int index, int rank) const {
    const int pair = pairs_ - 1 - index / args_.kv_heads;
    const int last = min(args_.queries(), (pair + 1) * kRanks * kQueries) - 1;
    return {index % args_.kv_heads, pair * kRanks + rank,
            (args_.first_position + last / args_.heads_a_kv) / kAttentionGroup + 1};
  }

 private:
  const AttentionArgs& args_;
  const int pairs_;
};

// Position in the ring; stages are counted from the kernel's start.
struct Ring {
  uint32_t full, empty, base;
  int index = 0;
  uint32_t phase = 0;

  __device__ uint32_t slot() const { return base + index * kStageBytes; }
  __device__ void wait_full() const { barrier_wait(full + index * 8, phase); }
  __device__ void advance() {
    if (++index == kSlots) {
      index = 0;
      phase ^= 1;
    }
  }
};

__device__ void produce(const AttentionArgs& args, const Maps& maps, Ring ring, uint32_t q_full,
                        uint32_t q_empty, int rank) {
  const Schedule schedule(args);
  uint32_t q_phase = 0;
  for (int index = schedule.first(); index < schedule.total(); index += schedule.step()) {
    const Item item = schedule.at(index, rank);
    barrier_wait(q_empty, q_phase ^ 1);
    q_phase ^= 1;
    barrier_expect_bytes(q_full, kTileBytes);
    for (int tile = 0; tile < 4; ++tile)
      copy_tile(ring.base + kQAt + tile * 8192, &maps.q, tile * 64,
                item.head * args.queries() + item.tile * kQueries, q_full);
    for (int group = 0; group < item.groups; ++group) {
      const int row = (args.pages[group] * args.kv_heads + item.head) * kAttentionGroup;
      for (int stage = 0; stage < kStagesAGroup; ++stage) {
        barrier_wait(ring.empty + ring.index * 8, ring.phase ^ 1);
        fetch_stage<kRanks>(maps.kv, stage, row, ring.slot(), ring.full + ring.index * 8, rank);
        ring.advance();
      }
    }
  }
}

__device__ inline void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void publish_to_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// One warpgroup's part of the walk; `half` is its half of the keys and of the dimensions.
class Consumer {
 public:
  __device__ Consumer(const AttentionArgs& args, uint8_t* shared, const Ring& ring, uint32_t q_full,
                      uint32_t q_empty)
      : args_(args),
        shared_(shared),
        ring_(ring),
        q_full_(q_full),
        q_empty_(q_empty),
        half_(threadIdx.x / 128),
        lane_(threadIdx.x % 32),
        row_(threadIdx.x % 128 / 32 * 16 + lane_ / 4),
        release_(remote_address(ring.empty, lane_ % kRanks)),
        maxima_(reinterpret_cast<float*>(shared + kMaxAt)),
        sums_(reinterpret_cast<float*>(shared + kSumAt)) {}

  __device__ void run(int rank) {
    const Schedule schedule(args_);
    uint32_t q_phase = 0;
    for (int index = schedule.first(); index < schedule.total(); index += schedule.step()) {
      const Item item = schedule.at(index, rank);
      barrier_wait(q_full_, q_phase);
      q_phase ^= 1;
      first_query_ = item.tile * kQueries;
      float o[64] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {};
      for (int group = 0; group < item.groups; ++group) {
        float group_m[2], group_l[2], d[64];
        scores(d);
        if (group + 1 == item.groups && lane_ == 0) barrier_arrive(q_empty_);
        weigh(group, d, group_m, group_l);
        outputs(group, d);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const MergeFactors f = merge_factors(m[h], group_m[h]);
          m[h] = f.m;
          l[h] = __fmaf_rn(f.a, l[h], f.b * group_l[h]);
#pragma unroll
          for (int i = 0; i < 16; ++i)
#pragma unroll
            for (int c = 0; c < 2; ++c)
              o[4 * i + 2 * h + c] =
                  __fmaf_rn(f.a, o[4 * i + 2 * h + c], f.b * d[4 * i + 2 * h + c]);
        }
      }
      store(item.head, o, l);
    }
  }

 private:
  __device__ void release() {
    if (lane_ < kRanks) barrier_arrive_remote(release_ + ring_.index * 8);
    ring_.advance();
  }
  __device__ int last_key(int h) const {
    return args_.first_position + (first_query_ + row_ + 8 * h) / args_.heads_a_kv;
  }

  // s = q k for this half's 128 keys.
  __device__ void scores(float (&s)[64]) {
    for (int stage = 0; stage < 4; ++stage) {
      if (stage % 2 == half_) {
        ring_.wait_full();
        wgmma_arrive();
#pragma unroll
        for (int step = 0; step < 8; ++step)
          wgmma_m64n128k16_ss(
              s,
              swizzled_operand(ring_.base + kQAt + (stage / 2 * 2 + step / 4) * 8192, 0, 1024) +
                  step % 4 * 2,
              swizzled_operand(ring_.slot() + step / 4 * 16384, 0, 1024) + step % 4 * 2,
              stage / 2 + step > 0);
        wgmma_commit();
        wgmma_wait<0>();
      }
      release();
    }
  }

  // The group's maxima and sums of weights of this lane's two rows; rounded weights to shared
  // memory.
  __device__ void weigh(int group, float (&s)[64], float (&group_m)[2], float (&group_l)[2]) {
    const int key0 = group * kAttentionGroup + half_ * 128 + lane_ % 4 * 2;
    const bool masked = group * kAttentionGroup + kAttentionGroup - 1 >
                        args_.first_position + first_query_ / args_.heads_a_kv;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int last = masked ? last_key(h) : INT_MAX;
      float m = -INFINITY;
#pragma unroll
      for (int i = 0; i < 16; ++i)
#pragma unroll
        for (int c = 0; c < 2; ++c)
          if (key0 + 8 * i + c <= last) m = max_nan(m, s[4 * i + 2 * h + c]);
      m = max_nan(m, __shfl_xor_sync(~0u, m, 1));
      m = max_nan(m, __shfl_xor_sync(~0u, m, 2));
      if (lane_ % 4 == 0) maxima_[half_ * kQueries + row_ + 8 * h] = m;
    }
    meet(1, kConsumers);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = row_ + 8 * h, last = masked ? last_key(h) : INT_MAX;
      const float m = max_nan(maxima_[row], maxima_[kQueries + row]);
      const float offset = -(m * kExponentFactor);
      float spans[4];
#pragma unroll
      for (int span = 0; span < 4; ++span) {
        float sum = 0;
#pragma unroll
        for (int i = 4 * span; i < 4 * span + 4; ++i) {
          float p[2];
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const float weight =
                exp2_weight(__fmaf_rn(s[4 * i + 2 * h + c], kExponentFactor, offset));
            p[c] = key0 + 8 * i + c <= last ? weight : 0.0f;
            sum = sum + p[c];
          }
          // Tile of 64 keys, then its 16-byte chunk of eight keys.
          *reinterpret_cast<uint32_t*>(shared_ + kPAt + (half_ * 2 + i / 8) * 8192 +
                                       swizzled_offset(row, i % 8) + lane_ % 4 * 4) =
              round_weights(p[0], p[1]);
        }
        spans[span] = sum;
      }
      float sum = ((spans[0] + spans[1]) + spans[2]) + spans[3];
      sum = sum + __shfl_xor_sync(~0u, sum, 1);
      sum = sum + __shfl_xor_sync(~0u, sum, 2);
      if (lane_ % 4 == 0) sums_[half_ * kQueries + row] = sum;
      group_m[h] = m;
    }
    publish_to_async();
    meet(1, kConsumers);
#pragma unroll
    for (int h = 0; h < 2; ++h) group_l[h] = sums_[row_ + 8 * h] + sums_[kQueries + row_ + 8 * h];
  }

  // o = weights v for this half's 128 dimensions.
  __device__ void outputs(int group, float (&o)[64]) {
    const int end = args_.first_position + args_.rows - group * kAttentionGroup;
    for (int block = 0; block < 4; ++block) {
      ring_.wait_full();
      const uint32_t values = ring_.slot() + half_ * 16384;
      if (end < (block + 1) * 64) clear_values(values - ring_.base, max(end - block * 64, 0));
      wgmma_arrive();
#pragma unroll
      for (int step = 0; step < 4; ++step)
        wgmma_m64n128k16_ss_n_major(
            o, swizzled_operand(ring_.base + kPAt + block * 8192, 0, 1024) + step * 2,
            swizzled_operand(values + step * 2048, 8192, 1024), block + step > 0);
      wgmma_commit();
      wgmma_wait<0>();
      release();
    }
  }

  // What lies beyond the sequence's end must not meet a weight, not even 0.
  __device__ void clear_values(uint32_t at, int from) {
    for (int i = threadIdx.x % 128; i < 2 * 64 * 8; i += 128)
      if (i / 8 % 64 >= from)
        *reinterpret_cast<uint4*>(shared_ + at + i / 512 * 8192 +
                                  swizzled_offset(i / 8 % 64, i % 8)) = uint4{};
    publish_to_async();
    meet(2 + half_, 128);
  }

  __device__ void store(int head, const float (&o)[64], const float (&l)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int query = first_query_ + row_ + 8 * h;
      if (query >= args_.queries()) continue;
      float* row = args_.out + (int64_t{head} * args_.queries() + query) * kAttentionDim +
                   half_ * 128 + lane_ % 4 * 2;
#pragma unroll
      for (int i = 0; i < 16; ++i)
        *reinterpret_cast<float2*>(row + 8 * i) =
            make_float2(o[4 * i + 2 * h] / l[h], o[4 * i + 2 * h + 1] / l[h]);
    }
  }

  const AttentionArgs& args_;
  uint8_t* const shared_;
  Ring ring_;
  const uint32_t q_full_, q_empty_;
  const int half_, lane_, row_;
  const uint32_t release_;
  float *const maxima_, *const sums_;
  int first_query_ = 0;
};

__global__ void __launch_bounds__(kThreads, 1)
    many_row_kernel(const AttentionArgs args, const __grid_constant__ Maps maps) {
  extern __shared__ uint8_t shared_raw[];
  const uint32_t base = (shared_address(shared_raw) + 1023) / 1024 * 1024;
  const uint32_t full = base + kBarriersAt, empty = full + kSlots * 8;
  const uint32_t q_full = empty + kSlots * 8, q_empty = q_full + 8;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kSlots; ++i) {
      barrier_init(full + i * 8, 1);
      barrier_init(empty + i * 8, kRanks * kConsumers / 32);
    }
    barrier_init(q_full, 1);
    barrier_init(q_empty, kConsumers / 32);
    barrier_init_fence();
  }
  meet_cluster();
  allow_next_kernel();
  wait_for_previous_kernel();
  const Ring ring = {full, empty, base};
  const int rank = static_cast<int>(cluster_rank());
  if (threadIdx.x >= kConsumers) {
    shrink_registers<24>();
    if (threadIdx.x == kConsumers) produce(args, maps, ring, q_full, q_empty, rank);
    __syncwarp();
  } else {
    grow_registers<240>();
    Consumer(args, shared_raw + (base - shared_address(shared_raw)), ring, q_full, q_empty)
        .run(rank);
  }
  meet_cluster();  // the other block may still write or arrive here
}

}  // namespace

Status attention_many_row_sm90(const AttentionArgs& args, CUstream_st* stream) {
  LOCKSTEP_ASSIGN_OR_RETURN(const KvMaps kv, kv_maps(args, kRanks));
  const TileShape queries = {.columns = kAttentionDim,
                             .rows = static_cast<uint64_t>(args.kv_heads) * args.queries(),
                             .box_columns = 64,
                             .box_rows = kQueries,
                             .swizzle = 128};
  LOCKSTEP_ASSIGN_OR_RETURN(const CUtensorMap q, tile_map(args.q, queries));
  LaunchShape shape = {.block = dim3(kThreads),
                       .shared_bytes = kSharedBytes,
                       .cluster = kRanks,
                       .overlap = args.overlap};
  const int pairs = (args.queries() + kRanks * kQueries - 1) / (kRanks * kQueries);
  const int clusters = std::min(pairs * args.kv_heads, resident_clusters(many_row_kernel, shape));
  shape.grid = dim3(static_cast<unsigned>(clusters * kRanks));
  return launch("attention many-row", many_row_kernel, shape, stream, args, Maps{kv, q});
}

}  // namespace lockstep::cuda
