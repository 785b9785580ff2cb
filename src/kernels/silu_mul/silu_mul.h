// silu_mul: y = silu(gate) * up, silu(x) = x / (1 + exp(-x)). Elementwise.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

struct SiluMulArgs {
  const float* gate = nullptr;  // [rows, n]
  const float* up = nullptr;    // [rows, n]
  int64_t rows = 0;
  int64_t n = 0;
  float* y = nullptr;  // [rows, n]; may be gate or up
};

// Error of y against float64, where y is the exact value.
constexpr double silu_mul_error(double y, double up) {
  const double magnitude = y < 0.0 ? -y : y, factor = up < 0.0 ? -up : up;
  return roundings(kSiluRoundings + 1.0) * magnitude + 128.0 * kSigmoidFloor * factor + kTiny;
}

void run_silu_mul(const CpuContext& context, const SiluMulArgs& args);
ShapeClass shape_class(const SiluMulArgs& args);
std::vector<KernelInfo> silu_mul_kernels();

}  // namespace lockstep
