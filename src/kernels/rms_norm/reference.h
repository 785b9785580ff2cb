// rms_norm in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/rms_norm/rms_norm.h"

namespace lockstep {

void reference_rms_norm(const RmsNormArgs& args, double* y);
void reference_rms_norm_gated(const RmsNormGatedArgs& args, double* y);

// The same with float64 rows in the place of args.x and args.gate.
void reference_rms_norm(const RmsNormArgs& args, const double* x, double* y);
void reference_rms_norm_gated(const RmsNormGatedArgs& args, const double* x, const double* gate,
                              double* y);

}  // namespace lockstep
