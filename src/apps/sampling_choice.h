// Which sampling settings a reply gets, and where each comes from.
#pragma once

#include <string>
#include <vector>

#include "apps/command_line.h"
#include "checkpoint/generation_config.h"
#include "sampling/settings.h"

namespace lockstep {

struct SamplingChoice {
  SamplingSettings settings;          // with a seed
  std::string description;            // one line
  std::vector<std::string> warnings;  // what the checkpoint recommends and this program does not do
};

// The command line wins over the checkpoint's generation_config.json, that over neutral values. A
// seed that is not given is drawn here, once.
SamplingChoice choose_sampling(const SamplingArgs& args, const GenerationConfig& generation);

}  // namespace lockstep
