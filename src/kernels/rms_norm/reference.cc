#include "kernels/rms_norm/reference.h"

#include <cmath>

#include "base/real_math.h"

namespace lockstep {

void reference_rms_norm(const RmsNormArgs& args, double* y) {
  for (int64_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    double squares = 0.0;
    for (int64_t i = 0; i < args.n; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double rms = std::sqrt(squares / static_cast<double>(args.n) + args.eps);
    for (int64_t i = 0; i < args.n; ++i) y[row * args.n + i] = x[i] / rms * args.weight[i];
  }
}

void reference_rms_norm_gated(const RmsNormGatedArgs& args, double* y) {
  reference_rms_norm({.x = args.x,
                      .x_stride = args.n,
                      .weight = args.weight,
                      .eps = args.eps,
                      .rows = args.rows,
                      .n = args.n},
                     y);
  for (int64_t i = 0; i < args.rows * args.n; ++i) {
    const double gate = args.gate[i];
    const double sigmoid = 1.0 / (1.0 + real_math::exp(-gate));
    y[i] *= args.function == GateFunction::kSilu ? gate * sigmoid : sigmoid;
  }
}

}  // namespace lockstep
