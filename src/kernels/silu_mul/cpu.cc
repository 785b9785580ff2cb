#include "kernels/silu_mul/cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {

void silu_mul_range(const SiluMulArgs& args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += kLanes) {
    const int64_t n = end - i;
    const F32x16 y = silu(load_up_to(args.gate + i, n)) * load_up_to(args.up + i, n);
    store_up_to(y, args.y + i, n);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
