// Runs the functions of simd/math.h over arrays, so that tests can hold each one to its error and
// to the same bits on every instruction set.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

enum class SimdFunction : uint8_t { kExp, kSigmoid, kSilu, kSoftplus, kRoundToBf16 };

struct SimdProbeArgs {
  SimdFunction function = SimdFunction::kExp;
  const float* x = nullptr;  // [n]
  int64_t n = 0;
  float* y = nullptr;  // [n]
};

void run_simd_probe(const CpuContext& context, const SimdProbeArgs& args);
ShapeClass shape_class(const SimdProbeArgs& args);

}  // namespace lockstep
