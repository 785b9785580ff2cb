// conv1d_causal in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/conv1d_causal/conv1d_causal.h"

namespace lockstep {

// out: [rows, C]. bound, where it is not null: the error that conv1d_causal may have there.
void reference_conv1d_causal(const Conv1dCausalArgs& args, double* out, double* bound);

// The same with float64 rows in the place of args.u.
void reference_conv1d_causal(const Conv1dCausalArgs& args, const double* u, double* out);

}  // namespace lockstep
