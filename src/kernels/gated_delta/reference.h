// gated_delta in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/gated_delta/gated_delta.h"

namespace lockstep {

// out: [rows, Hv, Dv]; states: [sequences, Hv, Dk, Dv]. The bounds: the error that gated_delta may
// have in each output, and in the 2-norm of each column of the states, [sequences, Hv, Dv].
struct GatedDeltaReference {
  double* out = nullptr;
  double* states = nullptr;
  double* out_bound = nullptr;
  double* state_bound = nullptr;
};

void reference_gated_delta(const GatedDeltaArgs& args, const GatedDeltaReference& reference);

// The same with float64 inputs in the place of those of args.
void reference_gated_delta(const GatedDeltaArgs& args, const double* qkv, const double* decay,
                           const double* beta, const GatedDeltaReference& reference);

}  // namespace lockstep
