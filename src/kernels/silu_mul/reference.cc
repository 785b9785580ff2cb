#include "kernels/silu_mul/reference.h"

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void multiply(const SiluMulArgs& args, const Real* gate, const Real* up, double* y) {
  for (int64_t i = 0; i < args.rows * args.n; ++i) {
    const double g = gate[i];
    y[i] = g / (1.0 + real_math::exp(-g)) * up[i];
  }
}

}  // namespace

void reference_silu_mul(const SiluMulArgs& args, double* y) {
  multiply(args, args.gate, args.up, y);
}

void reference_silu_mul(const SiluMulArgs& args, const double* gate, const double* up, double* y) {
  multiply(args, gate, up, y);
}

}  // namespace lockstep
