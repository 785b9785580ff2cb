#include "kernels/add/cpu.h"
#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {

void add_range(const AddArgs& args, int64_t begin, int64_t end) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    (F32x16::load(args.x + i) + F32x16::load(args.y + i)).store(args.x + i);
  }
  if (i < end) {
    const int64_t n = end - i;
    store_partial(load_partial(args.x + i, n) + load_partial(args.y + i, n), args.x + i, n);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
