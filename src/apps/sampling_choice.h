// Which sampling settings a reply gets, and where each comes from.
#pragma once

#include <string>
#include <vector>

#include "apps/command_line.h"
#include "checkpoint/generation_config.h"
#include "sampling/settings.h"

namespace lockstep {

struct SamplingChoice {
  SamplingSettings settings;
  std::string description;  // one line
};

// The command line wins over the checkpoint's generation_config.json, that over neutral values.
// `from` gets the names of what the checkpoint decided. The seed is the typed one or absent.
SamplingSettings settings_of(const SamplingArgs& args, const GenerationConfig& generation,
                             std::vector<const char*>* from = nullptr);

// The same, described; a seed that is not given is drawn here, once, or by each request.
SamplingChoice choose_sampling(const SamplingArgs& args, const GenerationConfig& generation,
                               bool draw_seed = true);

}  // namespace lockstep
