#pragma once

#include "kernels/registry.h"
#include "kernels/silu_mul/silu_mul.h"

LOCKSTEP_DECLARE_PER_ISA(void silu_mul_range(const SiluMulArgs& args, int64_t begin, int64_t end))
