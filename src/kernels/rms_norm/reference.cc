#include "kernels/rms_norm/reference.h"

#include <cmath>

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void norm_rows(const RmsNormArgs& args, const Real* rows, double* y) {
  for (int64_t row = 0; row < args.rows; ++row) {
    const Real* x = rows + row * args.x_stride;
    double squares = 0.0;
    for (int64_t i = 0; i < args.n; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double rms = std::sqrt(squares / static_cast<double>(args.n) + args.eps);
    for (int64_t i = 0; i < args.n; ++i) y[row * args.n + i] = x[i] / rms * args.weight[i];
  }
}

template <typename Real>
void norm_gated_rows(const RmsNormGatedArgs& args, const Real* x, const Real* gates, double* y) {
  norm_rows(
      {.x_stride = args.n, .weight = args.weight, .eps = args.eps, .rows = args.rows, .n = args.n},
      x, y);
  for (int64_t i = 0; i < args.rows * args.n; ++i) {
    const double gate = gates[i];
    const double sigmoid = 1.0 / (1.0 + real_math::exp(-gate));
    y[i] *= args.function == GateFunction::kSilu ? gate * sigmoid : sigmoid;
  }
}

}  // namespace

void reference_rms_norm(const RmsNormArgs& args, double* y) { norm_rows(args, args.x, y); }

void reference_rms_norm(const RmsNormArgs& args, const double* x, double* y) {
  norm_rows(args, x, y);
}

void reference_rms_norm_gated(const RmsNormGatedArgs& args, double* y) {
  norm_gated_rows(args, args.x, args.gate, y);
}

void reference_rms_norm_gated(const RmsNormGatedArgs& args, const double* x, const double* gate,
                              double* y) {
  norm_gated_rows(args, x, gate, y);
}

}  // namespace lockstep
