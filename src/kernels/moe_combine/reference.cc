#include "kernels/moe_combine/reference.h"

#include <cmath>

#include "base/real_math.h"

namespace lockstep {

void reference_moe_combine(const MoeCombineArgs& args, double* y, double* bound) {
  for (int64_t i = 0; i < args.rows * args.n; ++i) {
    const int64_t row = i / args.n;
    double sum = 0.0, magnitude = 0.0;
    for (int64_t j = 0; j < args.chosen; ++j) {
      const int64_t slot = row * args.chosen + j;
      const double term =
          static_cast<double>(args.weights[slot]) * args.down[slot * args.n + i % args.n];
      sum += term;
      magnitude += std::fabs(term);
    }
    const double gate = 1.0 / (1.0 + real_math::exp(-static_cast<double>(args.gate[row])));
    y[i] = sum + gate * args.shared[i];
    if (bound != nullptr) {
      bound[i] = moe_combine_error(args.chosen, magnitude, std::fabs(gate * args.shared[i]));
    }
  }
}

}  // namespace lockstep
