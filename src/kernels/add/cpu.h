#pragma once

#include "kernels/add/add.h"
#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(void add_range(const AddArgs& args, int64_t begin, int64_t end))
