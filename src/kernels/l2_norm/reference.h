// l2_norm in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/l2_norm/l2_norm.h"

namespace lockstep {

// y: [rows, heads * n].
void reference_l2_norm(const L2NormArgs& args, double* y);

// The same with float64 rows in the place of args.x.
void reference_l2_norm(const L2NormArgs& args, const double* x, double* y);

}  // namespace lockstep
