// silu_mul in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/silu_mul/silu_mul.h"

namespace lockstep {

void reference_silu_mul(const SiluMulArgs& args, double* y);

// The same with float64 inputs in the place of those of args.
void reference_silu_mul(const SiluMulArgs& args, const double* gate, const double* up, double* y);

}  // namespace lockstep
