// Does the config of a draft head's own folder describe this model?
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/model_config.h"

namespace lockstep {

// Every size that `root` states and a draft head depends on must be the model's; what it does not
// state is left to the tensors' shapes.
Status check_draft_head_config(const json::value& root, std::string_view file,
                               const ModelConfig& model);

}  // namespace lockstep
