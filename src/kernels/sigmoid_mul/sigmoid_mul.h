// sigmoid_mul: y = x * sigmoid(gate), the output gate of full attention. Elementwise. The gates lie
// between the queries, in the output of q_proj: head h of a row owns 2 * n elements, the query and
// then its gate.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

struct SigmoidMulArgs {
  float* x = nullptr;           // [rows, n], in place; a row is one head of one token
  const float* gate = nullptr;  // first gate; rows gate_stride apart
  int64_t gate_stride = 0;
  int64_t rows = 0;
  int64_t n = 0;
};

void run_sigmoid_mul(const CpuContext& context, const SigmoidMulArgs& args);

}  // namespace lockstep
