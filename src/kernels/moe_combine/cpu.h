#pragma once

#include "kernels/moe_combine/moe_combine.h"
#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(void moe_combine_rows(const MoeCombineArgs& args, int64_t begin,
                                               int64_t end))
