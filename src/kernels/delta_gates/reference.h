// delta_gates in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/delta_gates/delta_gates.h"

namespace lockstep {

void reference_delta_gates(const DeltaGatesArgs& args, double* decay, double* beta);

}  // namespace lockstep
