// moe_route in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/moe_route/moe_route.h"

namespace lockstep {

void reference_moe_route(const MoeRouteArgs& args, int32_t* ids, double* weights);

// The same with float64 logits in the place of args.logits.
void reference_moe_route(const MoeRouteArgs& args, const double* logits, int32_t* ids,
                         double* weights);

}  // namespace lockstep
