// What a folder of safetensors holds of a model, and in which encodings.
#pragma once

#include "base/result.h"
#include "checkpoint/convert/conversion.h"
#include "formats/affine_quantiser.h"

namespace lockstep {

// MLX: names as mlx-lm's converter gives them, matrices affine, except that routers and the gates
// of shared experts have 8 bits in groups of 64 and that rows that are no whole number of groups
// stay bf16. Vectors are bf16 as there, A_log float32. The draft head has bare names, for a folder
// of its own: mlx-lm drops mtp.*, and some versions take its presence for a sign that norms lack
// their 1.
Result<Conversion> plan_mlx(Checkpoint& source, const AffineFormat& format);

// Hugging Face: names, shapes and types of the releases. Matrices and most vectors are bf16, A_log
// and the norm of the gated delta layers float32; experts are fused.
Result<Conversion> plan_hugging_face(Checkpoint& source);

// `source` must outlive both.

}  // namespace lockstep
