#pragma once

#include "kernels/registry.h"
#include "kernels/rope/rope.h"

LOCKSTEP_DECLARE_PER_ISA(void rope_rows(const RopeArgs& args, int64_t begin, int64_t end))
