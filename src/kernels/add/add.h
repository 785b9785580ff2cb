// add: x = x + y, the residual connection. Elementwise, bit_exact.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

struct AddArgs {
  float* x = nullptr;        // [n]
  const float* y = nullptr;  // [n]
  int64_t n = 0;
};

void run_add(const CpuContext& context, const AddArgs& args);

}  // namespace lockstep
