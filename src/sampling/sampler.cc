#include "sampling/sampler.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "base/real_math.h"
#include "sampling/noise.h"
#include "sampling/row_edit.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void keep_candidates(std::span<const float> logits, const SamplingSettings& settings,
                     const MassScale& scale, std::vector<Candidate>& candidates) {
  const auto count = settings.top_k > 0 ? static_cast<size_t>(settings.top_k) : logits.size();
  if (count < logits.size()) {
    select_first(logits, count, candidates);
  } else {
    candidates.clear();
    for (size_t id = 0; id < logits.size(); ++id) {
      if (logits[id] == -kInfinity) continue;
      candidates.push_back({logits[id], static_cast<int32_t>(id)});
    }
  }
  if (settings.top_p < 1.0) keep_top_p(scale, settings.top_p, candidates);
  if (settings.min_p > 0.0) {
    const double min_score = real_math::log(settings.min_p);
    std::erase_if(candidates, [&](const Candidate& c) { return scale.score(c.logit) < min_score; });
  }
}

int32_t draw_one(const std::vector<Candidate>& candidates, const MassScale& scale,
                 const NoiseKey& key) {
  double best = -std::numeric_limits<double>::infinity();
  int32_t winner = candidates.front().id;
  for (const Candidate& candidate : candidates) {
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

}  // namespace

struct Sampler::Request {
  SamplingSettings settings;
  size_t vocab_size;
  RowEdit edit;
};

Result<Sampler> Sampler::make(const SamplingSettings& settings, int64_t vocab_size,
                              std::span<const int32_t> prompt,
                              std::shared_ptr<const TokenConstraint> constraint) {
  LOCKSTEP_RETURN_IF_ERROR(check_settings(settings));
  LOCKSTEP_RETURN_IF_ERROR(check_token_ids(settings, vocab_size));
  const auto size = static_cast<size_t>(vocab_size);
  Request request{settings, size, RowEdit(settings, size)};
  if (!request.settings.seed) request.settings.seed = random_seed();
  Sampler sampler(std::make_shared<const Request>(std::move(request)));
  if (sampler.request_->edit.counts_tokens()) sampler.history_ = TokenHistory(prompt);
  sampler.constraint_ = std::move(constraint);
  return sampler;
}

const SamplingSettings& Sampler::settings() const { return request_->settings; }

Result<int32_t> Sampler::draw(std::span<const float> logits, int64_t position,
                              SamplerScratch& scratch) const {
  LOCKSTEP_CHECK(position >= 0 && position <= std::numeric_limits<uint32_t>::max(),
                 "a position beyond the noise counter");
  LOCKSTEP_CHECK(logits.size() == request_->vocab_size, "a row of another vocabulary");
  const SamplingSettings& settings = request_->settings;
  LOCKSTEP_ASSIGN_OR_RETURN(Candidate first, find_first(logits));
  if (constraint_ || !request_->edit.empty()) {
    LOCKSTEP_ASSIGN_OR_RETURN(logits, edit(logits, scratch));
    first = find_first(logits).value();
  }
  if (settings.temperature == 0.0) return first.id;
  const MassScale scale(logits.size(), first.logit, settings.temperature);
  keep_candidates(logits, settings, scale, scratch.candidates);
  return draw_one(scratch.candidates, scale,
                  {*settings.seed, settings.reply_index, static_cast<uint32_t>(position), 0});
}

Result<std::span<const float>> Sampler::edit(std::span<const float> logits,
                                             SamplerScratch& scratch) const {
  scratch.row.assign(logits.begin(), logits.end());
  const TokenMask mask = constraint_ ? constraint_->mask() : TokenMask();
  request_->edit.apply(mask, history_, scratch.counts, scratch.row);
  for (const float logit : scratch.row) {
    if (logit != -kInfinity) return std::span<const float>(scratch.row);
  }
  return Error{ErrorCode::kInvalidArgument,
               "allowed_tokens, banned_tokens and the grammar leave no token to draw"};
}

void Sampler::accept(int32_t id, std::span<const float> /*logits*/) {
  if (request_->edit.counts_tokens()) history_.push(id);
  if (constraint_) constraint_ = constraint_->after(id);
}

}  // namespace lockstep
