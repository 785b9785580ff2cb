// A check of a few milliseconds that every start on a GPU runs.
#pragma once

#include "base/result.h"

struct CUstream_st;

namespace lockstep::cuda {

// Holds the instruction forms to each other (mma.sync and wgmma, either operand role, on ordinary,
// cancelling, subnormal and non-finite values), then the few-row product to the many-row one.
// Refuses with the name of what differs: with such a GPU a reply would depend on its batch.
Status self_test(CUstream_st* stream);

}  // namespace lockstep::cuda
