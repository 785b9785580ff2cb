#include "kernels/sigmoid_mul/reference.h"

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void multiply(const SigmoidMulArgs& args, const Real* x, const Real* gate, double* y) {
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t i = 0; i < args.n; ++i) {
      const double g = gate[row * args.gate_stride + i];
      y[row * args.n + i] = x[row * args.n + i] / (1.0 + real_math::exp(-g));
    }
  }
}

}  // namespace

void reference_sigmoid_mul(const SigmoidMulArgs& args, double* y) {
  multiply(args, args.x, args.gate, y);
}

void reference_sigmoid_mul(const SigmoidMulArgs& args, const double* x, const double* gate,
                           double* y) {
  multiply(args, x, gate, y);
}

}  // namespace lockstep
