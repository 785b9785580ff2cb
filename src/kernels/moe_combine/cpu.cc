#include "kernels/moe_combine/cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {

void moe_combine_rows(const MoeCombineArgs& args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* down = args.down + row * args.chosen * args.n;
    const float* weights = args.weights + row * args.chosen;
    const float* shared = args.shared + row * args.n;
    const F32x16 gate = sigmoid(F32x16::splat(args.gate[row]));
    for (int64_t i = 0; i < args.n; i += kLanes) {
      const int64_t n = args.n - i;
      F32x16 sum = F32x16::zero();
      for (int64_t j = 0; j < args.chosen; ++j) {
        sum = fma(F32x16::splat(weights[j]), load_up_to(down + j * args.n + i, n), sum);
      }
      store_up_to(fma(gate, load_up_to(shared + i, n), sum), args.y + row * args.n + i, n);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
