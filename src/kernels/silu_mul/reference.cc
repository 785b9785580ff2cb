#include "kernels/silu_mul/reference.h"

#include "base/real_math.h"

namespace lockstep {

void reference_silu_mul(const SiluMulArgs& args, double* y) {
  for (int64_t i = 0; i < args.rows * args.n; ++i) {
    const double gate = args.gate[i];
    y[i] = gate / (1.0 + real_math::exp(-gate)) * args.up[i];
  }
}

}  // namespace lockstep
