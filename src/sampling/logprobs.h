// Log-probabilities of the model's own distribution: softmax of the raw logits, before temperature
// and every filter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace lockstep {

inline constexpr int64_t kMaxTopLogprobs = 20;

struct TokenLogprob {
  int32_t id = 0;
  double logprob = 0.0;  // natural logarithm; -infinity for a token that cannot be chosen
};

struct Logprobs {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top;  // the first `count` tokens in order
};

// `count` in [0, kMaxTopLogprobs]. Errors as in find_first (candidates.h). Within 1e-8 of the exact
// value: the sum under the logarithm is of integer masses.
Result<Logprobs> log_probabilities(std::span<const float> logits, int32_t chosen, int64_t count);

}  // namespace lockstep
