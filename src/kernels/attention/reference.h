// attention in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/attention/attention.h"

namespace lockstep {

// out: [rows, Nq, Dh]. bound, where it is not null: the error that attention may have there.
void reference_attention(const AttentionArgs& args, double* out, double* bound);

}  // namespace lockstep
