// rms_norm in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/rms_norm/rms_norm.h"

namespace lockstep {

void reference_rms_norm(const RmsNormArgs& args, double* y);
void reference_rms_norm_gated(const RmsNormGatedArgs& args, double* y);

}  // namespace lockstep
