// moe_combine in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/moe_combine/moe_combine.h"

namespace lockstep {

// y: [rows, H]. bound, where it is not null: the error that moe_combine may have there.
void reference_moe_combine(const MoeCombineArgs& args, double* y, double* bound);

// The same with float64 inputs in the place of those of args.
void reference_moe_combine(const MoeCombineArgs& args, const double* down, const double* weights,
                           const double* shared, const double* gate, double* y);

}  // namespace lockstep
