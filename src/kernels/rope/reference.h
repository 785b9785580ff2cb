// rope in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/rope/rope.h"

namespace lockstep {

// y: [rows, heads, head_dim].
void reference_rope(const RopeArgs& args, double* y);

}  // namespace lockstep
