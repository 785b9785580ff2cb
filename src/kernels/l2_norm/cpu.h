#pragma once

#include "kernels/l2_norm/l2_norm.h"
#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(void l2_norm_rows(const L2NormArgs& args, int64_t begin, int64_t end))
