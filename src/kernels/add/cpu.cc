#include "kernels/add/cpu.h"

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {

void add_range(const AddArgs& args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += kLanes) {
    const int64_t n = end - i;
    store_up_to(load_up_to(args.x + i, n) + load_up_to(args.y + i, n), args.x + i, n);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
