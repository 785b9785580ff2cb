// A logits row becomes a token.
//
// A sampler is a value that stands at one point of a reply: what it draws is a function of the row,
// the settings, the position and the tokens accepted so far, of nothing else. Copies are cheap. A
// draft window lets a copy draw and accept row after row; the copy after the last right row becomes
// the stream's sampler, and equals the one that serial drawing leaves (docs/numerics.md, rules 18
// and 25 to 28):
//
//   Sampler row = committed;
//   for each row of the window: id = row.draw(logits, position, scratch); row.accept(id, logits);
//
// In this order, always:
//    1. NaN and infinity are errors; tokens at -infinity cannot be chosen.
//    2. Tokens that the constraint (a grammar) masks, then tokens that are not among the allowed
//       ones, then banned ones become -infinity.
//    3. repetition_penalty r, of ids within the window of prompt and reply: logit / r if it is
//    above
//       0, else logit * r. Then, of ids within the window that the reply has n > 0 times:
//       - (presence_penalty + frequency_penalty * n). Rounded to float32 here.
//    4. logit_bias is added; rounded to float32.
//    5. temperature 0: the first token in order (logit descending, id ascending). Done.
//    6. scores = (logit - highest logit) / temperature, in double precision.
//    7. top_k: the first k tokens in order.
//    8. top_p: of those, the shortest start of the order with at least top_p of their probability.
//    9. min_p: of those, tokens with at least min_p times the probability of the first one.
//   10. The highest score + Gumbel noise of (seed, reply, position, draw, token); ties to the lower
//       id. This draws each token with its probability among those left, and a change of the set
//       that does not remove the winner does not change the winner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "sampling/candidates.h"
#include "sampling/settings.h"
#include "sampling/token_constraint.h"
#include "sampling/token_history.h"

namespace lockstep {

// Memory of draws, reused by one after another: one for each thread that draws, whatever the
// number of samplers.
struct SamplerScratch {
  std::vector<float> row;
  std::vector<Candidate> candidates;
  TokenCounts counts;
};

// Copies of one sampler belong to one thread at a time.
class Sampler {
 public:
  // At the start of a request's reply. Settings and ids out of range are errors. An absent seed is
  // drawn here: where several replies share one, the caller draws it (random_seed). `constraint`
  // may be null: none.
  static Result<Sampler> make(const SamplingSettings& settings, int64_t vocab_size,
                              std::span<const int32_t> prompt,
                              std::shared_ptr<const TokenConstraint> constraint = nullptr);

  // With the seed that is used.
  const SamplingSettings& settings() const;

  // The token that stands at absolute `position`, in [0, 2^32), given the logits [V] of the row
  // before. A row of which settings and constraint leave no token is an error.
  Result<int32_t> draw(std::span<const float> logits, int64_t position,
                       SamplerScratch& scratch) const;

  // The reply goes on by `id`, which draw gave for these logits (samplers to come fold them in).
  void accept(int32_t id, std::span<const float> logits);

 private:
  struct Request;  // what does not change from token to token
  explicit Sampler(std::shared_ptr<const Request> request) : request_(std::move(request)) {}

  Result<std::span<const float>> edit(std::span<const float> logits, SamplerScratch& scratch) const;

  std::shared_ptr<const Request> request_;
  TokenHistory history_;  // stays empty where nothing counts tokens
  std::shared_ptr<const TokenConstraint> constraint_;
};

}  // namespace lockstep
