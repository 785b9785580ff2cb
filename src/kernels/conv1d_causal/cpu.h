#pragma once

#include "kernels/conv1d_causal/conv1d_causal.h"
#include "kernels/registry.h"

// Channels [begin, end) of the sequence.
LOCKSTEP_DECLARE_PER_ISA(void conv1d_causal_channels(const Conv1dCausalArgs& args,
                                                     const ConvSequence& sequence, int64_t begin,
                                                     int64_t end))
