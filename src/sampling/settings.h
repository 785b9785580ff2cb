// What a request asks of the sampler. The defaults are neutral: the model's own distribution.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace lockstep {

struct SamplingSettings {
  double temperature = 1.0;                     // [0, 100]; 0: the likeliest token, always
  int64_t top_k = 0;                            // [0, 2^31); 0: off
  double top_p = 1.0;                           // (0, 1]; 1: off
  double min_p = 0.0;                           // [0, 1]; 0: off
  std::optional<uint64_t> seed = std::nullopt;  // absent: drawn at random
  uint32_t reply_index = 0;                     // tells the replies of one request apart
};

// The first setting that is out of range, by name.
Status check_settings(const SamplingSettings& settings);

// A seed from the operating system's entropy, below 2^53 so that every JSON reader keeps it whole.
uint64_t random_seed();

}  // namespace lockstep
