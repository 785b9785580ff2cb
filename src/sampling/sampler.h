// A logits row becomes a token. Nothing is remembered between draws: a token is a function of the
// row, the settings and the position, so a draft is right exactly when it is the token that would
// have been drawn without drafting (docs/numerics.md, rules 18 and 25).
//
// In this order, always:
//   1. NaN and infinity are errors; tokens at -infinity cannot be chosen.
//   2. temperature 0: the first token in order (logit descending, id ascending). Done.
//   3. scores = (logit - highest logit) / temperature, in double precision.
//   4. top_k: the first k tokens in order.
//   5. top_p: of those, the shortest start of the order with at least top_p of their probability.
//   6. min_p: of those, tokens with at least min_p times the probability of the first one.
//   7. The highest score + Gumbel noise of (seed, reply, position, draw, token); ties to the lower
//      id. This draws each token with its probability among those left, and a change of the set
//      that does not remove the winner does not change the winner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "sampling/candidates.h"
#include "sampling/settings.h"

namespace lockstep {

class Sampler {
 public:
  // Out-of-range settings are errors. An absent seed is drawn here.
  static Result<Sampler> make(const SamplingSettings& settings);

  // With the seed that is used.
  const SamplingSettings& settings() const { return settings_; }

  // The token that stands at absolute `position`, in [0, 2^32), given the logits of the row before.
  Result<int32_t> sample(std::span<const float> logits, int64_t position);

 private:
  explicit Sampler(const SamplingSettings& settings);

  void keep_allowed(std::span<const float> logits, const MassScale& scale);
  int32_t draw(const MassScale& scale, int64_t position) const;

  SamplingSettings settings_;
  double min_score_ = 0.0;             // ln(min_p)
  std::vector<Candidate> candidates_;  // reused memory of one draw
};

}  // namespace lockstep
