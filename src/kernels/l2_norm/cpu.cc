#include "kernels/l2_norm/cpu.h"

#include "kernels/simd/row_sums.h"

namespace lockstep::LOCKSTEP_ISA {

void l2_norm_rows(const L2NormArgs& args, int64_t begin, int64_t end) {
  const F32x16 scale = F32x16::splat(args.scale);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t head = 0; head < args.heads; ++head) {
      float* x = args.x + row * args.stride + head * args.n;
      const F32x16 r = inverse_root(sum_of_squares(x, args.n) + kL2NormEps);
      for (int64_t i = 0; i < args.n; i += kLanes) {
        const int64_t n = args.n - i;
        store_up_to(load_up_to(x + i, n) * r * scale, x + i, n);
      }
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
