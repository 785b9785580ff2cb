#include "kernels/rope/cpu.h"

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {

void rope_rows(const RopeArgs& args, int64_t begin, int64_t end) {
  const int64_t half = args.rotary_dim / 2;
  for (int64_t row = begin; row < end; ++row) {
    const float* cosines = args.cos + row * half;
    const float* sines = args.sin + row * half;
    for (int64_t head = 0; head < args.heads; ++head) {
      float* first = args.x + (row * args.heads + head) * args.head_dim;
      float* second = first + half;
      for (int64_t i = 0; i < half; i += kLanes) {
        const int64_t n = half - i;
        const F32x16 c = load_up_to(cosines + i, n);
        const F32x16 s = load_up_to(sines + i, n);
        const F32x16 x = load_up_to(first + i, n);
        const F32x16 y = load_up_to(second + i, n);
        store_up_to(fma(x, c, -(y * s)), first + i, n);
        store_up_to(fma(y, c, x * s), second + i, n);
      }
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
