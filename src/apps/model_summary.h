// A model's parts as a user thinks of them, with the format, the parameters and the bytes of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace lockstep {

struct ModelPart {
  std::string name;     // "embedding", "attention", ...
  std::string formats;  // "4-bit affine, groups of 64", several joined by " + "
  int64_t parameters = 0;
  uint64_t bytes = 0;
};

// Ascending from the embedding to the draft head; a tied head is no part of its own.
std::vector<ModelPart> model_parts(const Model& model);

// All of the trunk: no draft head.
ModelPart trunk_total(const std::vector<ModelPart>& parts);

// "14.1 M", "35.9 B".
std::string format_count(int64_t count);

inline constexpr const char* kDraftHeadPart = "draft head (MTP)";

// "6 gated delta, 2 full attention".
std::string describe_layers(const ModelConfig& config);

}  // namespace lockstep
