// rms_norm: y = x * rsqrt(mean(x^2) + eps) * weight, per row.
// rms_norm_gated: the same, times act(gate): norm first, gate after.
//
// Reduction order: x^2 in 16 lanes by fma (element i in lane i mod 16, ascending), tree 16-8-4-2-1;
// the sum divided by n; r = 1 / sqrt(mean + eps). Then y = (x * r) * weight, and for the gated form
// ((x * r) * weight) * act(gate). All float32; non-finite inputs spread over their own row only.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

struct RmsNormArgs {
  const float* x = nullptr;
  int64_t x_stride = 0;  // elements between rows; a head inside a wider row is a row of its own
  const float* weight = nullptr;  // [n], the factor itself: 1 + w where the model stores w
  float eps = 0.0f;
  int64_t rows = 0;
  int64_t n = 0;
  float* y = nullptr;  // [rows, n]; may be x where x_stride == n
};

void run_rms_norm(const CpuContext& context, const RmsNormArgs& args);
ShapeClass shape_class(const RmsNormArgs& args);

enum class GateFunction : uint8_t { kSilu, kSigmoid };

struct RmsNormGatedArgs {
  const float* x = nullptr;       // [rows, n]
  const float* gate = nullptr;    // [rows, n]
  const float* weight = nullptr;  // [n]
  GateFunction function = GateFunction::kSilu;
  float eps = 0.0f;
  int64_t rows = 0;
  int64_t n = 0;
  float* y = nullptr;  // [rows, n]; may be x
};

// Error of y against float64, relative to |y|, for eps > 0: the sum, the division by n and the eps
// enter under a root, which halves them; root, reciprocal and two products follow.
constexpr double rms_norm_error(int64_t n) {
  return roundings((lane_sum_depth(n) + 2.0) / 2.0 + 4.0);
}
// The gate adds its function and a product, and kSigmoidFloor per unit of the normed value (128
// units for silu).
constexpr double rms_norm_gated_error(int64_t n) {
  return rms_norm_error(n) + roundings(kSiluRoundings + 1.0);
}

void run_rms_norm_gated(const CpuContext& context, const RmsNormGatedArgs& args);
ShapeClass shape_class(const RmsNormGatedArgs& args);
std::vector<KernelInfo> rms_norm_kernels();
std::vector<KernelInfo> rms_norm_gated_kernels();

}  // namespace lockstep
