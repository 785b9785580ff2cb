#include "kernels/sigmoid_mul/reference.h"

#include "base/real_math.h"

namespace lockstep {

void reference_sigmoid_mul(const SigmoidMulArgs& args, double* y) {
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t i = 0; i < args.n; ++i) {
      const double gate = args.gate[row * args.gate_stride + i];
      y[row * args.n + i] = args.x[row * args.n + i] / (1.0 + real_math::exp(-gate));
    }
  }
}

}  // namespace lockstep
