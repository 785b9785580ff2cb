#include "kernels/sigmoid_mul/cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {

void sigmoid_mul_rows(const SigmoidMulArgs& args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* gate = args.gate + row * args.gate_stride;
    float* x = args.x + row * args.n;
    for (int64_t i = 0; i < args.n; i += kLanes) {
      const int64_t n = args.n - i;
      store_up_to(load_up_to(x + i, n) * sigmoid(load_up_to(gate + i, n)), x + i, n);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
