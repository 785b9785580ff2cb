// delta_gates: decay and write strength of the gated delta rule, per row and value head:
//   beta = sigmoid(b),  decay = exp(g),  g = negative_a * softplus(a + dt_bias),  negative_a =
//   -exp(A_log)
// softplus(x) = max(x, 0) + log1p(exp(-|x|)). No reduction.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

struct DeltaGatesArgs {
  const float* a = nullptr;           // [rows, Hv]
  const float* b = nullptr;           // [rows, Hv]
  const float* negative_a = nullptr;  // [Hv], <= 0
  const float* dt_bias = nullptr;     // [Hv]
  int64_t rows = 0;
  int64_t heads = 0;       // Hv
  float* decay = nullptr;  // [rows, Hv], in [0, 1]
  float* beta = nullptr;   // [rows, Hv], in [0, 1]
};

void run_delta_gates(const CpuContext& context, const DeltaGatesArgs& args);

}  // namespace lockstep
