// l2_norm: y = (x * rsqrt(sum(x^2) + eps)) * scale, per head, in place: q and k of the gated delta
// rule. eps stands inside the root and is 1e-6 whatever the model's norm eps is.
//
// Reduction order: as rms_norm, without the division by n.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

inline constexpr float kL2NormEps = 1e-6f;

struct L2NormArgs {
  float* x =
      nullptr;  // rows of `stride` elements; heads * n of each, from its start, are normalised
  int64_t rows = 0;
  int64_t stride = 0;
  int64_t heads = 0;
  int64_t n = 0;
  float scale = 1.0f;
};

// Error of y against float64, relative to |y|: as rms_norm, without the division by n.
constexpr double l2_norm_error(int64_t n) {
  return roundings((lane_sum_depth(n) + 1.0) / 2.0 + 4.0);
}

void run_l2_norm(const CpuContext& context, const L2NormArgs& args);
ShapeClass shape_class(const L2NormArgs& args);
std::vector<KernelInfo> l2_norm_kernels();

}  // namespace lockstep
