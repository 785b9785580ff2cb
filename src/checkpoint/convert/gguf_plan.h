// What a GGUF file of a model holds, and in which types.
#pragma once

#include "base/result.h"
#include "checkpoint/convert/conversion.h"
#include "checkpoint/gguf/tensor_type.h"

namespace lockstep {

// Every tensor of `source` by its GGUF name. Matrices are stored as `type`, except
// - vectors, convolutions, routers and the gates of shared experts, which are F32 as in all files;
// - the decay and write projections of gated delta layers (ssm_alpha, ssm_beta), of a few rows
//   each, which are Q8_0 where `type` has blocks;
// - rows that are no whole number of blocks: Q8_0, or F16 where those do not fit either.
// `source` must outlive the plan.
Result<Conversion> plan_gguf(Checkpoint& source, const GgufTensorType& type);

// The type of a planned tensor.
GgufTensorType gguf_type_of(const PlannedTensor& tensor);

}  // namespace lockstep
