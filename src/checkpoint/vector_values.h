// Small tensors as float32.
#pragma once

#include <vector>

#include "base/result.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

// All elements of an F32, F16 or BF16 tensor, in order, exactly. Another dtype, NaN and infinity
// are errors.
Result<std::vector<float>> widen_to_float(const TensorRecord& record);

// F32, F16 or BF16.
bool is_float_dtype(DType dtype);

}  // namespace lockstep
