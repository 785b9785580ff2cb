// A GGUF model as the rest of the engine sees one: canonical names and a configuration.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/gguf/files.h"
#include "checkpoint/model_config.h"

namespace lockstep {

struct GgufModel {
  GgufFiles files;  // tensors under canonical names; fused q, k and v as three
  ModelConfig config;
  GenerationConfig generation;
};

Result<GgufModel> open_gguf_model(const std::filesystem::path& path);

}  // namespace lockstep
