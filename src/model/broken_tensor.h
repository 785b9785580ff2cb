// Weights that are not finite: what most often is behind a value that is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"

namespace lockstep {

// The first tensor that `layer` reads (as model/stages.h counts layers: -1 the embedding, L the
// final norm and the head) with NaN or infinity in it, as its file spells it, with the file. Looks
// at tensors of float types: weights, norms, scales and biases.
std::optional<std::string> find_broken_tensor(const Checkpoint& checkpoint, int64_t layer);

}  // namespace lockstep
