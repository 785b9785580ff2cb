#pragma once

#include "kernels/embed/embed.h"
#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(void embed_row(const MatrixView& table, int64_t row, float* out))
