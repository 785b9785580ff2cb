// What a request asks of the sampler. The defaults are neutral: the model's own distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"

namespace lockstep {

struct LogitBias {
  int32_t id = 0;
  double bias = 0.0;  // [-100, 100], added to the logit
};

struct SamplingSettings {
  double temperature = 1.0;                     // [0, 100]; 0: the likeliest token, always
  int64_t top_k = 0;                            // [0, 2^31); 0: off
  double top_p = 1.0;                           // (0, 1]; 1: off
  double min_p = 0.0;                           // [0, 1]; 0: off
  std::optional<uint64_t> seed = std::nullopt;  // absent: drawn at random
  uint32_t reply_index = 0;                     // tells the replies of one request apart

  double repetition_penalty = 1.0;  // (0, 100]; 1: off. Of ids in the prompt and the reply
  double presence_penalty = 0.0;    // [-100, 100]; 0: off. Of ids in the reply
  double frequency_penalty = 0.0;   // [-100, 100]; 0: off. The same, for each time
  int64_t penalty_window = 0;       // [0, 2^31): the last so many tokens count; 0: all of them
  std::vector<LogitBias> logit_bias = {};    // each id once
  std::vector<int32_t> banned_tokens = {};   // never drawn
  std::vector<int32_t> allowed_tokens = {};  // only these are drawn; empty: all
};

// The first setting that is out of range, by name.
Status check_settings(const SamplingSettings& settings);

// The first id, of those that the settings name, which a vocabulary of this size does not have.
Status check_token_ids(const SamplingSettings& settings, int64_t vocab_size);

// A seed from the operating system's entropy, below 2^53 so that every JSON reader keeps it whole.
uint64_t random_seed();

}  // namespace lockstep
