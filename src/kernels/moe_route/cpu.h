#pragma once

#include "kernels/moe_route/moe_route.h"
#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(void moe_route_rows(const MoeRouteArgs& args, int64_t begin, int64_t end))
