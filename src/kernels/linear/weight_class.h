// Shape classes of ops on stored weights.
#pragma once

#include <string>

#include "formats/matrix.h"
#include "kernels/launch_log.h"

namespace lockstep {

// Dims ".encoding", ".dtype", ".bits", ".group" and ".block" (what decides how an element is
// decoded), then "n" (rows) and "k" (columns).
ShapeClass weight_class(std::string op, const MatrixView& weight);

// The matrix of such a class, without data.
MatrixView weight_of_class(const ShapeClass& shape);

}  // namespace lockstep
