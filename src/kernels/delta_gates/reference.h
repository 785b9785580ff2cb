// delta_gates in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/delta_gates/delta_gates.h"

namespace lockstep {

void reference_delta_gates(const DeltaGatesArgs& args, double* decay, double* beta);

// The same with float64 inputs in the place of args.a and args.b.
void reference_delta_gates(const DeltaGatesArgs& args, const double* a, const double* b,
                           double* decay, double* beta);

}  // namespace lockstep
