#include "sampling/logprobs.h"

#include "base/check.h"
#include "base/real_math.h"
#include "sampling/candidates.h"

namespace lockstep {

Result<Logprobs> log_probabilities(std::span<const float> logits, int32_t chosen, int64_t count) {
  LOCKSTEP_CHECK(count >= 0 && count <= kMaxTopLogprobs, "unchecked number of logprobs");
  LOCKSTEP_ASSIGN_OR_RETURN(const Candidate first, find_first(logits));
  const MassScale scale(logits.size(), first.logit, 1.0);
  uint64_t total = 0;
  for (const float logit : logits) total += scale.mass(logit);
  const double log_total = real_math::log(static_cast<double>(total) / scale.unit());
  const auto entry = [&](int32_t id) {
    return TokenLogprob{id, scale.score(logits[static_cast<size_t>(id)]) - log_total};
  };
  Logprobs result{entry(chosen), {}};
  std::vector<Candidate> top;
  select_first(logits, static_cast<size_t>(count), top);
  for (const Candidate& candidate : top) result.top.push_back(entry(candidate.id));
  return result;
}

}  // namespace lockstep
