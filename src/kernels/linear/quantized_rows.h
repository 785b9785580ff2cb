// int8 activations: groups of 32 consecutive k share a scale (docs/numerics.md, rule 12).
//   amax = max |x|; scale = amax / 127; q = rint(x / scale), ties to even, clamped to [-127, 127];
//   sum = the integer sum of the group's q, as a float (exact).
// A group with a non-finite value gets scale NaN and q 0; amax below 2^-100 gives scale 0 and q 0.
// A last group shorter than 32 is padded with zeros.
#pragma once

#include <cstdint>

#include "kernels/cpu_context.h"

namespace lockstep {

inline constexpr int64_t kActivationGroup = 32;

constexpr int64_t activation_groups(int64_t k) {
  return (k + kActivationGroup - 1) / kActivationGroup;
}

struct QuantizedRows {
  int8_t* q = nullptr;     // [rows, groups * 32]
  float* scale = nullptr;  // [rows, groups]
  float* sum = nullptr;    // [rows, groups]
};

struct QuantizeRowsArgs {
  const float* x = nullptr;  // [rows, k]
  int64_t rows = 0;
  int64_t k = 0;
  QuantizedRows out;
};

void run_quantize_rows(const CpuContext& context, const QuantizeRowsArgs& args);

}  // namespace lockstep
