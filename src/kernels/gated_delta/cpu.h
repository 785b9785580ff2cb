#pragma once

#include "kernels/gated_delta/gated_delta.h"
#include "kernels/registry.h"

namespace lockstep {

// Value columns that one call carries through all rows of a segment: the state tile of Dk = 128
// rows is then 32 KiB.
inline constexpr int64_t kDeltaColumns = 64;

}  // namespace lockstep

// Columns [first_column, first_column + columns) of a value head, columns a multiple of 16, at most
// kDeltaColumns.
LOCKSTEP_DECLARE_PER_ISA(void gated_delta_columns(const GatedDeltaArgs& args,
                                                  const DeltaSequence& sequence, int64_t value_head,
                                                  int64_t first_column, int64_t columns))
