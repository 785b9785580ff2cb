#pragma once

#include "kernels/registry.h"
#include "kernels/rms_norm/rms_norm.h"

LOCKSTEP_DECLARE_PER_ISA(void rms_norm_rows(const RmsNormArgs& args, int64_t begin, int64_t end);
                         void rms_norm_gated_rows(const RmsNormGatedArgs& args, int64_t begin,
                                                  int64_t end))
