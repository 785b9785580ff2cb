// Which conventions a set of weights follows (docs of Layout), read off its convolutions.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

// From every "linear_attn.conv1d.weight": [C,1,4] or [C,4,1]. nullopt if there is none; two kinds
// in one model, or another shape, are errors. Prefixes and the presence of `mtp.` tensors say
// nothing: converters have been wrong about both.
Result<std::optional<Layout>> find_layout(const std::vector<TensorRecord>& tensors);

}  // namespace lockstep
