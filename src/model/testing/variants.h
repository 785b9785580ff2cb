// Small synthetic checkpoints that between them have every head ratio, encoding and layout that is
// read.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/synth/synth.h"

namespace lockstep::testing {

struct Variant {
  std::string name;
  SynthShape shape;
  SynthOptions options;
};

const std::vector<Variant>& variants();

}  // namespace lockstep::testing
