#include "kernels/delta_gates/reference.h"

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void gates(const DeltaGatesArgs& args, const Real* a, const Real* b, double* decay, double* beta) {
  for (int64_t i = 0; i < args.rows * args.heads; ++i) {
    const int64_t head = i % args.heads;
    const double x = static_cast<double>(a[i]) + args.dt_bias[head];
    const double positive = x < 0.0 ? 0.0 : x;
    const double softplus = positive + real_math::log1p(real_math::exp(x < 0.0 ? x : -x));
    decay[i] = real_math::exp(args.negative_a[head] * softplus);
    beta[i] = 1.0 / (1.0 + real_math::exp(-static_cast<double>(b[i])));
  }
}

}  // namespace

void reference_delta_gates(const DeltaGatesArgs& args, double* decay, double* beta) {
  gates(args, args.a, args.b, decay, beta);
}

void reference_delta_gates(const DeltaGatesArgs& args, const double* a, const double* b,
                           double* decay, double* beta) {
  gates(args, a, b, decay, beta);
}

}  // namespace lockstep
