#pragma once

#include "kernels/registry.h"
#include "kernels/simd/probe.h"

LOCKSTEP_DECLARE_PER_ISA(void simd_probe_range(const SimdProbeArgs& args, int64_t begin,
                                               int64_t end))
