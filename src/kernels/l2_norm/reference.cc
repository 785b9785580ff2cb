#include "kernels/l2_norm/reference.h"

#include <cmath>

namespace lockstep {
namespace {

template <typename Real>
void normalise(const L2NormArgs& args, const Real* x, double* y) {
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t head = 0; head < args.heads; ++head) {
      const Real* v = x + row * args.stride + head * args.n;
      double squares = 0.0;
      for (int64_t i = 0; i < args.n; ++i) squares += static_cast<double>(v[i]) * v[i];
      const double norm = std::sqrt(squares + kL2NormEps);
      for (int64_t i = 0; i < args.n; ++i) {
        y[(row * args.heads + head) * args.n + i] = v[i] / norm * args.scale;
      }
    }
  }
}

}  // namespace

void reference_l2_norm(const L2NormArgs& args, double* y) { normalise(args, args.x, y); }

void reference_l2_norm(const L2NormArgs& args, const double* x, double* y) {
  normalise(args, x, y);
}

}  // namespace lockstep
