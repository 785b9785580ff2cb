#include "kernels/delta_gates/cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {

void delta_gates_rows(const DeltaGatesArgs& args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const int64_t first = row * args.heads;
    for (int64_t i = 0; i < args.heads; i += kLanes) {
      const int64_t n = args.heads - i;
      const F32x16 step =
          softplus(load_up_to(args.a + first + i, n) + load_up_to(args.dt_bias + i, n));
      const F32x16 decay = exp(load_up_to(args.negative_a + i, n) * step);
      store_up_to(decay, args.decay + first + i, n);
      store_up_to(sigmoid(load_up_to(args.b + first + i, n)), args.beta + first + i, n);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
