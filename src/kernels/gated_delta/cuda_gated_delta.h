// The gated delta rule on CUDA, token by token, one kernel for any number of rows. The op itself is
// gated_delta.h; this is its order and its storage here (docs/numerics.md, rule 16).
//
// A value column's 128 state elements lie on eight lanes; lane l holds k = 4 * (l + 8 i) + c for
// i, c = 0..3. Per token, e = decay:
//   S = e * S                     below 2^-100 it becomes +-0 (rule 7)
//   m = sum_k S k                 per lane four chains c, fma over i ascending from +0, then
//                                 (0 + 1) + (2 + 3), then the butterfly 1-2-4 over the lanes
//   d = beta * (v - m),  S = fma(k, d, S)
//   o = sum_k S q                 as m
// The state is kept times 2^-26, so that a product flushed at 2^-126 is the floor at 2^-100 and
// costs nothing; m, d and o are scaled back. Powers of two: no rounding depends on them.
#pragma once

#include <cstdint>

#include "base/result.h"

struct CUstream_st;

namespace lockstep::cuda {

inline constexpr float kStateFactor = 0x1p-26f;  // stored = state * this

struct DeltaSequence {
  int first_row = 0;
  int rows = 0;
  const float* state_in = nullptr;  // [Hv, 128 value columns, 128 keys], times kStateFactor
  float* state_out = nullptr;       // may equal state_in
};

struct GatedDeltaArgs {
  const float* qkv = nullptr;    // [rows, (2 * Hk + Hv) * 128]: q, k (both normalised), v
  const float* decay = nullptr;  // [rows, Hv]
  const float* beta = nullptr;   // [rows, Hv]
  int key_heads = 0;
  int value_heads = 0;
  const DeltaSequence* sequences = nullptr;  // on the device
  int sequence_count = 0;
  float* out = nullptr;  // [rows, Hv, 128]
  bool overlap = false;  // may begin before the previous kernel of the stream has ended
};

Status gated_delta_scan(const GatedDeltaArgs& args, CUstream_st* stream);

}  // namespace lockstep::cuda
