#include "sampling/sampler.h"

#include <limits>

#include "base/check.h"
#include "base/real_math.h"
#include "sampling/noise.h"

namespace lockstep {

Result<Sampler> Sampler::make(const SamplingSettings& settings) {
  LOCKSTEP_RETURN_IF_ERROR(check_settings(settings));
  return Sampler(settings);
}

Sampler::Sampler(const SamplingSettings& settings) : settings_(settings) {
  if (!settings_.seed) settings_.seed = random_seed();
  if (settings_.min_p > 0.0) min_score_ = real_math::log(settings_.min_p);
}

Result<int32_t> Sampler::sample(std::span<const float> logits, int64_t position) {
  LOCKSTEP_CHECK(position >= 0 && position <= std::numeric_limits<uint32_t>::max(),
                 "a position beyond the noise counter");
  LOCKSTEP_ASSIGN_OR_RETURN(const Candidate first, find_first(logits));
  if (settings_.temperature == 0.0) return first.id;
  const MassScale scale(logits.size(), first.logit, settings_.temperature);
  keep_allowed(logits, scale);
  return draw(scale, position);
}

void Sampler::keep_allowed(std::span<const float> logits, const MassScale& scale) {
  const auto count = settings_.top_k > 0 ? static_cast<size_t>(settings_.top_k) : logits.size();
  if (count < logits.size()) {
    select_first(logits, count, candidates_);
  } else {
    candidates_.clear();
    for (size_t id = 0; id < logits.size(); ++id) {
      if (logits[id] == -std::numeric_limits<float>::infinity()) continue;
      candidates_.push_back({logits[id], static_cast<int32_t>(id)});
    }
  }
  if (settings_.top_p < 1.0) keep_top_p(scale, settings_.top_p, candidates_);
  if (settings_.min_p > 0.0) {
    std::erase_if(candidates_,
                  [&](const Candidate& c) { return scale.score(c.logit) < min_score_; });
  }
}

int32_t Sampler::draw(const MassScale& scale, int64_t position) const {
  const NoiseKey key{*settings_.seed, settings_.reply_index, static_cast<uint32_t>(position), 0};
  double best = -std::numeric_limits<double>::infinity();
  int32_t winner = candidates_.front().id;
  for (const Candidate& candidate : candidates_) {
    const double score = scale.score(candidate.logit);
    const uint64_t odd53 = uniform_odd53(key, static_cast<uint32_t>(candidate.id));
    if (score + gumbel_bound(odd53) < best) continue;
    const double value = score + gumbel(odd53);
    if (value < best || (value == best && candidate.id > winner)) continue;
    best = value;
    winner = candidate.id;
  }
  return winner;
}

}  // namespace lockstep
