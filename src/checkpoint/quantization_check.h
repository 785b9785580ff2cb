// Holds what a module's tensors are against what the config says they are.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "checkpoint/checkpoint.h"

namespace lockstep {

// `weight` is `module`'s and was found to be MLX affine with these `bits` and `group`; a config
// that says otherwise is an error that names both.
Status check_affine(const Checkpoint& checkpoint, std::string_view module,
                    const TensorRecord& weight, int64_t bits, int64_t group);

// `weight` is not quantised.
Status check_dense(const Checkpoint& checkpoint, std::string_view module,
                   const TensorRecord& weight);

}  // namespace lockstep
