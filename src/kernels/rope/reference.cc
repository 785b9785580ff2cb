#include "kernels/rope/reference.h"

namespace lockstep {

void reference_rope(const RopeArgs& args, double* y) {
  const int64_t half = args.rotary_dim / 2;
  for (int64_t head = 0; head < args.rows * args.heads; ++head) {
    const float* x = args.x + head * args.head_dim;
    double* out = y + head * args.head_dim;
    for (int64_t i = 0; i < args.head_dim; ++i) out[i] = x[i];
    for (int64_t i = 0; i < half; ++i) {
      const double cosine = args.cos[head / args.heads * half + i];
      const double sine = args.sin[head / args.heads * half + i];
      out[i] = x[i] * cosine - x[i + half] * sine;
      out[i + half] = x[i + half] * cosine + x[i] * sine;
    }
  }
}

}  // namespace lockstep
