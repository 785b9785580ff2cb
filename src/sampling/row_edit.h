// What a request changes in a logits row before a token is drawn from it: masks, penalties, biases.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/settings.h"
#include "sampling/token_constraint.h"
#include "sampling/token_history.h"

namespace lockstep {

// The edits of one request. Each result is computed in double precision and rounded to float32
// once; beyond the largest float it is that float. A logit of -infinity stays -infinity.
class RowEdit {
 public:
  // `settings` are checked, ids included (settings.h).
  RowEdit(const SamplingSettings& settings, size_t vocab_size);

  // No row would be changed, whatever was drawn before. A constraint is not counted.
  bool empty() const {
    return !counts_tokens() && biases_.empty() && banned_.empty() && allowed_.empty();
  }
  // Whether it needs a history.
  bool counts_tokens() const { return counts_tokens_; }

  // In this order: `mask` (empty: none), allowed ids, banned ids; penalties of `history`; biases.
  void apply(TokenMask mask, const TokenHistory& history, TokenCounts& counts,
             std::span<float> row) const;

 private:
  void penalise(const TokenHistory& history, TokenCounts& counts, std::span<float> row) const;
  float penalised(float logit, const TokenCounts::Count& count) const;

  double repetition_;
  double presence_;
  double frequency_;
  int64_t window_;
  bool counts_tokens_;
  std::vector<LogitBias> biases_;
  std::vector<int32_t> banned_;
  std::vector<uint64_t> allowed_;  // a mask; empty: all
};

}  // namespace lockstep
