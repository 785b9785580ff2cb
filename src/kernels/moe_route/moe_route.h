// moe_route: the k experts of each row and their weights, from router logits.
// Experts are ordered by (logit descending, id ascending); NaN ranks below every number and spoils
// the row's weights. weight_j = e_j / sum e, e_j = exp(logit_j - logit_0), the sum over the k
// chosen in slot order: softmax over all experts, top k and renormalisation give the same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

struct MoeRouteArgs {
  const float* logits = nullptr;  // [rows, E]
  int64_t rows = 0;
  int64_t experts = 0;       // E
  int64_t chosen = 0;        // k <= E
  int32_t* ids = nullptr;    // [rows, k]
  float* weights = nullptr;  // [rows, k]
};

// Error of a weight against float64, relative to it; `spread` = logit_0 - logit_{k-1}: difference
// and exp in numerator and denominator, the sum over k, the division.
constexpr double moe_route_error(int64_t chosen, double spread) {
  return roundings(2.0 * (spread + kExpRoundings) + static_cast<double>(chosen) + 1.0);
}

void run_moe_route(const CpuContext& context, const MoeRouteArgs& args);
ShapeClass shape_class(const MoeRouteArgs& args);
std::vector<KernelInfo> moe_route_kernels();

}  // namespace lockstep
