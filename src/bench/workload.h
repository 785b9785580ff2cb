// What is timed: prompts read and replies decoded by a bare loop over the forward pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/forward_pass.h"

namespace lockstep::bench {

// Seeded ids that the tokenizer knows. Which they are decides no time, except that a mixture of
// experts routes by them.
std::vector<int32_t> random_ids(const Model& model, int64_t count, uint64_t seed);

// A sequence that has read `ids`, in chunks of the pass's row limit, logits of the last row only.
Result<SequenceState> read_prompt(ForwardPass& pass, std::span<const int32_t> ids);

// Seconds that read_prompt takes with `length` ids.
Result<double> time_prefill(ForwardPass& pass, int64_t length);

// `streams` sequences at one depth that go on a token each in every round.
class DecodeLoop {
 public:
  // Every sequence reads `depth` ids of its own, at least one.
  static Result<DecodeLoop> make(ForwardPass& pass, int64_t streams, int64_t depth);

  // Tokens that each sequence has.
  int64_t position() const { return sequences_.front().position(); }

  // Seconds of `rounds` rounds, logits of every row included. Sequences are `rounds` longer after.
  Result<double> time_rounds(ForwardPass& pass, int64_t rounds);

 private:
  DecodeLoop() = default;

  std::vector<SequenceState> sequences_;
};

}  // namespace lockstep::bench
