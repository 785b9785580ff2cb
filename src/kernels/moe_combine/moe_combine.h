// moe_combine: the experts' outputs of a row in slot order, then the shared expert with its gate
// (docs/numerics.md, rule 17):
//   acc = fma(weight_j, down_j, acc), j ascending from +0;  y = fma(sigmoid(gate), shared, acc)
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

struct MoeCombineArgs {
  const float* down = nullptr;     // [rows, k, H]
  const float* weights = nullptr;  // [rows, k]
  const float* shared = nullptr;   // [rows, H]
  const float* gate = nullptr;     // [rows], logits of the shared expert's gate
  int64_t rows = 0;
  int64_t chosen = 0;  // k
  int64_t n = 0;       // H
  float* y = nullptr;  // [rows, H]; may be shared
};

// Error against float64: `experts` = sum |weight_j down_j|, `shared` = |sigmoid(gate) shared|.
constexpr double moe_combine_error(int64_t chosen, double experts, double shared) {
  return roundings(static_cast<double>(chosen) + 1.0) * experts +
         roundings(kSigmoidRoundings + 1.0) * shared + kTiny;
}

void run_moe_combine(const CpuContext& context, const MoeCombineArgs& args);
ShapeClass shape_class(const MoeCombineArgs& args);
std::vector<KernelInfo> moe_combine_kernels();

}  // namespace lockstep
