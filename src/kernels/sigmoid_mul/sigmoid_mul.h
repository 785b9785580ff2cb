// sigmoid_mul: y = x * sigmoid(gate), the output gate of full attention. Elementwise. The gates lie
// between the queries, in the output of q_proj: head h of a row owns 2 * n elements, the query and
// then its gate. An infinite x whose gate is below -88.7, where the sigmoid is 0, gives NaN.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

struct SigmoidMulArgs {
  float* x = nullptr;           // [rows, n], in place; a row is one head of one token
  const float* gate = nullptr;  // first gate; rows gate_stride apart
  int64_t gate_stride = 0;
  int64_t rows = 0;
  int64_t n = 0;
};

// Error of the result y against float64, where y is the exact value.
constexpr double sigmoid_mul_error(double y, double x) {
  const double magnitude = y < 0.0 ? -y : y, factor = x < 0.0 ? -x : x;
  return roundings(kSigmoidRoundings + 1.0) * magnitude + kSigmoidFloor * factor + kTiny;
}

void run_sigmoid_mul(const CpuContext& context, const SigmoidMulArgs& args);
ShapeClass shape_class(const SigmoidMulArgs& args);
std::vector<KernelInfo> sigmoid_mul_kernels();

}  // namespace lockstep
