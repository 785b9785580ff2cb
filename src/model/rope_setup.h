// Rotary frequencies of a configuration, plain or YaRN.
#pragma once

#include <vector>

#include "checkpoint/model_config.h"

namespace lockstep {

struct RopeSetup {
  std::vector<float> frequencies;  // [R / 2]
  float scale = 1.0f;              // of cos and sin
};

// YaRN (the family's model cards add it for contexts beyond the trained one): with
// c(n) = R ln(M / (2 pi n)) / (2 ln theta), M the original positions, frequency i moves from its
// plain value to value / factor along a ramp from floor(c(beta_fast)) to ceil(c(beta_slow)); cos
// and sin are multiplied by 0.1 ln(factor) + 1. It is static: short prompts change too.
RopeSetup rope_setup(const RopeConfig& rope, int64_t rotary_dim);

}  // namespace lockstep
