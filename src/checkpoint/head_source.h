// Which matrix turns the last hidden state into logits: repositories disagree about tied heads.
#pragma once

#include <string>

#include "checkpoint/model_config.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

inline constexpr const char* kEmbeddingModule = "model.embed_tokens";
inline constexpr const char* kHeadModule = "lm_head";

struct HeadSource {
  std::string module;  // kEmbeddingModule or kHeadModule
  std::string reason;  // a sentence
  bool odd = false;    // the reason is worth a warning
};

// A stored head that differs from the embedding is used even where the config calls it tied: it was
// stored for a reason. A missing one is the embedding.
HeadSource head_source(const ModelConfig& config, const TensorSource& tensors);

}  // namespace lockstep
