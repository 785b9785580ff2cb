#pragma once

#include "kernels/delta_gates/delta_gates.h"
#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(void delta_gates_rows(const DeltaGatesArgs& args, int64_t begin,
                                               int64_t end))
