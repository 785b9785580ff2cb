// silu_mul: y = silu(gate) * up, silu(x) = x / (1 + exp(-x)). Elementwise.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

struct SiluMulArgs {
  const float* gate = nullptr;  // [rows, n]
  const float* up = nullptr;    // [rows, n]
  int64_t rows = 0;
  int64_t n = 0;
  float* y = nullptr;  // [rows, n]; may be gate or up
};

void run_silu_mul(const CpuContext& context, const SiluMulArgs& args);

}  // namespace lockstep
