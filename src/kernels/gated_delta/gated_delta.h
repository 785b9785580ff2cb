// gated_delta: the gated delta rule, token by token, for any number of rows. Per value head h with
// its key head h / (Hv / Hk) (or h % Hk), state S [Dk, Dv], one row at a time:
//   S = S * decay, an element of magnitude below 2^-100 becomes +0 (rule 7)
//   m = S^T k          one fma chain per value column from +0, key index ascending
//   d = beta * (v - m)
//   S = fma(k, d, S)
//   o = S^T q          as m, on the updated state
// The chain over the key index is sequential because value columns are the lanes: outputs, not
// partial sums.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

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
  bool tiled_heads = false;      // value head h meets key head h % Hk, not h / (Hv / Hk)
  const DeltaSequence* sequences = nullptr;
  int64_t sequence_count = 0;
  float* out = nullptr;  // [rows, Hv, Dv]
};

// One row's effect on the error of a value column of the state, in the 2-norm over the key index.
struct GatedDeltaError {
  double before = 0.0;  // bound of the column's error so far
  double decay = 0.0;
  double beta = 0.0;
  double key_norm = 0.0;      // |k|
  double write = 0.0;         // |d|
  double decayed_norm = 0.0;  // |S| after the decay, and
  double state_norm = 0.0;    // after the row
  int64_t key_dim = 0;
};
// The error so far passes through decay * (1 - beta k k^T), whose norm is decay * max(1, |1 - beta
// |k|^2|). To it come: the decay's rounding and floor; the chain of m, which enters as beta k; the
// difference and the product in d, which enter as k; the last fma. Doubled for products of errors.
constexpr double gated_delta_state_error(const GatedDeltaError& e) {
  const double shrink = 1.0 - e.beta * e.key_norm * e.key_norm;
  const double carried = e.decay * e.before * (shrink < -1.0 ? -shrink : 1.0);
  const double chain = e.beta * e.key_norm * e.key_norm * roundings(static_cast<double>(e.key_dim));
  return carried +
         2.0 * ((kRounding + chain) * e.decayed_norm + 2.0 * kRounding * e.key_norm * e.write +
                kRounding * e.state_norm + kStateFloor * static_cast<double>(e.key_dim));
}

constexpr int64_t gated_delta_key_head(const GatedDeltaArgs& args, int64_t value_head) {
  return args.tiled_heads ? value_head % args.key_heads
                          : value_head / (args.value_heads / args.key_heads);
}

void run_gated_delta(const CpuContext& context, const GatedDeltaArgs& args);
ShapeClass shape_class(const GatedDeltaArgs& args);
std::vector<KernelInfo> gated_delta_kernels();

}  // namespace lockstep
