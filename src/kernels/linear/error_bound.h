// How far linear may lie from float64, by counting the roundings on the longest path of a term:
// n of them leave a factor within 1 +- n u / (1 - n u), u = 2^-24 (Higham, Accuracy and Stability
// of Numerical Algorithms, lemma 3.1). `magnitude` is that of reference_linear. Underflow is left
// out: it adds less than 2^-149 per fma.
#pragma once

#include <cstdint>

#include "kernels/linear/quantized_rows.h"

namespace lockstep {

constexpr double rounding_factor(int64_t roundings) {
  const double nu = static_cast<double>(roundings) * 0x1p-24;
  return nu / (1.0 - nu);
}

// A lane's chain of fma, four tree additions, and the one rounding of a decoded affine weight.
constexpr double linear_float_bound(int64_t k, double magnitude) {
  return rounding_factor((k + 15) / 16 + 4 + 1) * magnitude;
}

// bias_w * sum_x, t, a lane's chain of fma over groups, four tree additions: against float64 on the
// same quantised rows.
constexpr double linear_int8_bound(int64_t k, double magnitude) {
  return rounding_factor(activation_blocks(k) + 4 + 2) * magnitude;
}

// |x - scale * q| of one value of a group with this scale: half a step, and what the rounded scale
// and the rounded quotient (at most 127 (1 + 2u)) add.
constexpr double quantisation_bound(float scale) { return scale * (0.5 + 0x1p-15); }

}  // namespace lockstep
