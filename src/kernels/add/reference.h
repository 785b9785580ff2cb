// add in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/add/add.h"

namespace lockstep {

void reference_add(const AddArgs& args, double* sum);

}  // namespace lockstep
