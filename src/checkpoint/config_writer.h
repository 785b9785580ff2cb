// config.json of a model: what config_reader.h reads of it again.
#pragma once

#include "base/dtype.h"
#include "base/json.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/model_config.h"

namespace lockstep {

// The nested form of the releases. `dtype` is what most tensors are stored as.
json::object model_config_json(const ModelConfig& config, DType dtype);

// Makes it that of a folder with a draft head alone.
void set_draft_head_type(json::object& config);

// generation_config.json: what read_generation_config reads of it again.
json::object generation_config_json(const GenerationConfig& config);

}  // namespace lockstep
