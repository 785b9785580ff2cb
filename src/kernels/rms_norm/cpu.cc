#include "kernels/rms_norm/cpu.h"

#include "kernels/simd/math.h"
#include "kernels/simd/row_sums.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

F32x16 inverse_rms(const float* x, int64_t n, float eps) {
  return inverse_root(sum_of_squares(x, n) / static_cast<float>(n) + eps);
}

}  // namespace

void rms_norm_rows(const RmsNormArgs& args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* y = args.y + row * args.n;
    const F32x16 r = inverse_rms(x, args.n, args.eps);
    for (int64_t i = 0; i < args.n; i += kLanes) {
      const int64_t n = args.n - i;
      store_up_to(load_up_to(x + i, n) * r * load_up_to(args.weight + i, n), y + i, n);
    }
  }
}

void rms_norm_gated_rows(const RmsNormGatedArgs& args, int64_t begin, int64_t end) {
  const bool silu_gate = args.function == GateFunction::kSilu;
  for (int64_t row = begin; row < end; ++row) {
    const float* x = args.x + row * args.n;
    const float* gate = args.gate + row * args.n;
    float* y = args.y + row * args.n;
    const F32x16 r = inverse_rms(x, args.n, args.eps);
    for (int64_t i = 0; i < args.n; i += kLanes) {
      const int64_t n = args.n - i;
      const F32x16 g = load_up_to(gate + i, n);
      const F32x16 normed = load_up_to(x + i, n) * r * load_up_to(args.weight + i, n);
      store_up_to(normed * (silu_gate ? silu(g) : sigmoid(g)), y + i, n);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
