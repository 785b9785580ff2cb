// sigmoid_mul in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/sigmoid_mul/sigmoid_mul.h"

namespace lockstep {

void reference_sigmoid_mul(const SigmoidMulArgs& args, double* y);

// The same with float64 inputs in the place of those of args.
void reference_sigmoid_mul(const SigmoidMulArgs& args, const double* x, const double* gate,
                           double* y);

}  // namespace lockstep
