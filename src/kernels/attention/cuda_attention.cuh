// What both attention kernels compute alike (cuda_attention.h).
#pragma once

#include <cstdint>

#include "kernels/attention/cuda_attention.h"
#include "kernels/cuda/exp2.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/tensor_map.cuh"

namespace lockstep::cuda {

inline constexpr float kExponentFactor = 0x1.715476p-4f;  // log2(e) / 16

// Two weights rounded to bf16, nearest even; every NaN becomes one NaN.
__device__ inline uint32_t round_weights(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

struct MergeFactors {
  float m, a, b;
};

__device__ inline MergeFactors merge_factors(float m, float group_m) {
  const float greater = max_nan(m, group_m);
  return {greater, exp2_weight((m - greater) * kExponentFactor),
          exp2_weight((group_m - greater) * kExponentFactor)};
}

// A group's sum of weights from the lane sums of its eight 32s; s[i] belongs to 32 i .. 32 i + 31
// and to this lane of four.
__device__ inline float sum_weights(const float (&s)[8]) {
  float half[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    half[h] = ((s[4 * h] + s[4 * h + 1]) + s[4 * h + 2]) + s[4 * h + 3];
    half[h] = half[h] + __shfl_xor_sync(~0u, half[h], 1);
    half[h] = half[h] + __shfl_xor_sync(~0u, half[h], 2);
  }
  return half[0] + half[1];
}

// The ring's stages: eight a group, 32 KiB each. K comes in halves of 128 keys and of 128
// dimensions (half 0 dimensions 0.., half 1 dimensions 0.., half 0 dimensions 128.., half 1 ..), as
// two tiles of 128 keys x 64 dimensions; V in blocks of 64 keys, as four tiles of 64 keys x 64
// dimensions. All tiles are in the 128-byte swizzle.
inline constexpr int kStagesAGroup = 8;
inline constexpr int kStageBytes = 32768;

struct KvMaps {
  CUtensorMap k, v;
};

inline Result<KvMaps> kv_maps(const AttentionArgs& args, uint32_t ranks) {
  const TileShape keys = {
      .columns = kAttentionDim,
      .rows = static_cast<uint64_t>(args.page_count) * args.kv_heads * kAttentionGroup,
      .box_columns = 64,
      .box_rows = 128 / ranks,
      .swizzle = 128};
  TileShape values = keys;
  values.box_rows = 64 / ranks;
  KvMaps maps;
  LOCKSTEP_ASSIGN_OR_RETURN(maps.k, tile_map(args.k, keys));
  LOCKSTEP_ASSIGN_OR_RETURN(maps.v, tile_map(args.v, values));
  return maps;
}

// Starts the copies of one stage of a group whose first row in the pool is `row`. Of `ranks` blocks
// each fetches its part for all.
template <int kRanks>
__device__ inline void fetch_stage(const KvMaps& maps, int stage, int row, uint32_t slot,
                                   uint32_t barrier, int rank) {
  const auto fetch = [&](uint32_t to, const CUtensorMap* map, int column, int from) {
    if constexpr (kRanks == 1) copy_tile(to, map, column, from, barrier);
    if constexpr (kRanks > 1)
      copy_tile_to_all(to, map, column, from, barrier, static_cast<uint16_t>((1 << kRanks) - 1));
  };
  barrier_expect_bytes(barrier, kStageBytes);
  if (stage < 4) {
    constexpr int kRows = 128 / kRanks;
    const int from = row + stage % 2 * 128 + rank * kRows;
    for (int tile = 0; tile < 2; ++tile)
      fetch(slot + tile * 16384 + rank * kRows * 128, &maps.k, stage / 2 * 128 + tile * 64, from);
  } else {
    constexpr int kRows = 64 / kRanks;
    const int from = row + (stage - 4) * 64 + rank * kRows;
    for (int tile = 0; tile < 4; ++tile)
      fetch(slot + tile * 8192 + rank * kRows * 128, &maps.v, tile * 64, from);
  }
}

}  // namespace lockstep::cuda
