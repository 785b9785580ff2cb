#pragma once

#include "kernels/registry.h"
#include "kernels/sigmoid_mul/sigmoid_mul.h"

LOCKSTEP_DECLARE_PER_ISA(void sigmoid_mul_rows(const SigmoidMulArgs& args, int64_t begin,
                                               int64_t end))
