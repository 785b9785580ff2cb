// Reads config.json of the Qwen3.5 family, nested or flat, into a checked ModelConfig. Every error
// names the field, what was found and what is allowed; a shape that is not stated is an error,
// never a default.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/model_config.h"

namespace lockstep {

// Larger configuration files are refused.
inline constexpr size_t kMaxConfigBytes = 16u << 20;

// `file` names the text in messages.
Result<ModelConfig> read_model_config(const json::value& root, std::string_view file);

}  // namespace lockstep
