#include "kernels/moe_combine/reference.h"

#include <cmath>

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void combine(const MoeCombineArgs& args, const Real* down, const Real* weights, const Real* shared,
             const Real* gate, double* y, double* bound) {
  for (int64_t i = 0; i < args.rows * args.n; ++i) {
    const int64_t row = i / args.n;
    double sum = 0.0, magnitude = 0.0;
    for (int64_t j = 0; j < args.chosen; ++j) {
      const int64_t slot = row * args.chosen + j;
      const double term = static_cast<double>(weights[slot]) * down[slot * args.n + i % args.n];
      sum += term;
      magnitude += std::fabs(term);
    }
    const double factor = 1.0 / (1.0 + real_math::exp(-static_cast<double>(gate[row])));
    y[i] = sum + factor * shared[i];
    if (bound != nullptr) {
      bound[i] = moe_combine_error(args.chosen, magnitude, std::fabs(factor * shared[i]));
    }
  }
}

}  // namespace

void reference_moe_combine(const MoeCombineArgs& args, double* y, double* bound) {
  combine(args, args.down, args.weights, args.shared, args.gate, y, bound);
}

void reference_moe_combine(const MoeCombineArgs& args, const double* down, const double* weights,
                           const double* shared, const double* gate, double* y) {
  combine(args, down, weights, shared, gate, y, nullptr);
}

}  // namespace lockstep
