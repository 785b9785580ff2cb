// Which architecture a config.json describes.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/model_config.h"

namespace lockstep {

// Dense or mixture of experts, from the `model_type` of `top` and of its text_config, if it has
// one. Every other architecture is refused by name.
Result<Ffn> read_model_type(const JsonFields& top, const std::optional<JsonFields>& text);

// What a draft head's own folder says; not a model.
inline constexpr std::string_view kDraftHeadModelType = "qwen3_5_mtp";

}  // namespace lockstep
