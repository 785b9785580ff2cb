// delta_gates: decay and write strength of the gated delta rule, per row and value head:
//   beta = sigmoid(b),  decay = exp(g),  g = negative_a * softplus(a + dt_bias),  negative_a =
//   -exp(A_log)
// softplus(x) = max(x, 0) + log1p(exp(-|x|)). No reduction.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

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

// Error of beta against float64.
constexpr double delta_gates_beta_error(double beta) {
  return roundings(kSigmoidRoundings) * beta + kSigmoidFloor;
}
// Error of decay: the error of g, an exponent, is relative in decay. softplus has a slope of at
// most 1, so the rounding of x = a + dt_bias stays |x| u.
constexpr double delta_gates_decay_error(double decay, double x, double negative_a,
                                         double softplus) {
  const double sum = (x < 0.0 ? -x : x) + (kSoftplusRoundings + 1.0) * softplus;
  return decay * (roundings(kExpRoundings) + 1.01 * kRounding * -negative_a * sum) + kTiny;
}

void run_delta_gates(const CpuContext& context, const DeltaGatesArgs& args);
ShapeClass shape_class(const DeltaGatesArgs& args);
std::vector<KernelInfo> delta_gates_kernels();

}  // namespace lockstep
