// gated_delta: the gated delta rule, token by token, for any number of rows. Per value head h with
// its key head h / (Hv / Hk), state S [Dk, Dv], one row at a time:
//   S = S * decay, an element of magnitude below 2^-100 becomes +0 (rule 7)
//   m = S^T k          one fma chain per value column from +0, key index ascending
//   d = beta * (v - m)
//   S = fma(k, d, S)
//   o = S^T q          as m, on the updated state
// The chain over the key index is sequential because value columns are the lanes: outputs, not
// partial sums.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

inline constexpr float kStateFloor = 0x1p-100f;

struct DeltaSequence {
  int64_t first_row = 0;
  int64_t rows = 0;
  const float* state_in = nullptr;  // [Hv, Dk, Dv]
  float* state_out = nullptr;       // [Hv, Dk, Dv]; not state_in
};

struct GatedDeltaArgs {
  const float* qkv = nullptr;    // [rows, 2 * Hk * Dk + Hv * Dv]: q, k (both normalised), v
  const float* decay = nullptr;  // [rows, Hv]
  const float* beta = nullptr;   // [rows, Hv]
  int64_t key_heads = 0;         // Hk
  int64_t value_heads = 0;       // Hv
  int64_t key_dim = 0;           // Dk
  int64_t value_dim = 0;         // Dv, a multiple of 16
  const DeltaSequence* sequences = nullptr;
  int64_t sequence_count = 0;
  float* out = nullptr;  // [rows, Hv, Dv]
};

void run_gated_delta(const CpuContext& context, const GatedDeltaArgs& args);

}  // namespace lockstep
