#include "kernels/simd/probe_cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

F32x16 apply(SimdFunction function, F32x16 x) {
  switch (function) {
    case SimdFunction::kExp:
      return exp(x);
    case SimdFunction::kSigmoid:
      return sigmoid(x);
    case SimdFunction::kSilu:
      return silu(x);
    case SimdFunction::kSoftplus:
      return softplus(x);
    case SimdFunction::kRoundToBf16:
      return round_to_bf16(x);
  }
  return x;
}

}  // namespace

void simd_probe_range(const SimdProbeArgs& args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += kLanes) {
    store_up_to(apply(args.function, load_up_to(args.x + i, end - i)), args.y + i, end - i);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
