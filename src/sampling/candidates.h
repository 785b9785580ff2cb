// Tokens of one logits row, and the sets of them that a sampler may choose from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace lockstep {

struct Candidate {
  float logit = 0.0f;
  int32_t id = 0;
};

// The one order of tokens: logit descending, id ascending (docs/numerics.md, rule 18).
inline bool precedes(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

// The first token in order. NaN, +infinity and a row of -infinity only are errors that name the
// token; single -infinities are tokens that cannot be chosen.
Result<Candidate> find_first(std::span<const float> logits);

// The first `count` tokens above -infinity, in order; fewer if there are not so many. `out` is
// replaced.
void select_first(std::span<const float> logits, size_t count, std::vector<Candidate>& out);

// Probability before normalisation, exp((logit - highest) / temperature), as an integer: sums are
// then exact, so no order of summation can show (docs/numerics.md, rule 18). `unit`s of 1 are
// 2^62 / V, rounded up to a power of two: the masses of a whole row fit in 64 bits.
class MassScale {
 public:
  // At most 2^32 tokens; temperature > 0.
  MassScale(size_t vocab_size, float highest, double temperature);

  // (logit - highest) / temperature, at most 0.
  double score(float logit) const { return (static_cast<double>(logit) - highest_) / temperature_; }
  uint64_t mass(float logit) const;
  double unit() const { return unit_; }
  // Masses of lower scores are 0.
  double lowest_score() const { return lowest_score_; }

 private:
  double highest_;
  double temperature_;
  double unit_;
  double lowest_score_;
};

// Keeps the shortest start of the order, the rest removed, whose mass is at least `top_p` of the
// mass of all candidates. `candidates` come in any order and may leave in another.
void keep_top_p(const MassScale& scale, double top_p, std::vector<Candidate>& candidates);

}  // namespace lockstep
