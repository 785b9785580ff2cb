// sigmoid_mul in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/sigmoid_mul/sigmoid_mul.h"

namespace lockstep {

void reference_sigmoid_mul(const SigmoidMulArgs& args, double* y);

}  // namespace lockstep
