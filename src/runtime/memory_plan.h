// What a model needs in memory, computed before any of it is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/forward_pass.h"
#include "model/model.h"

namespace lockstep {

// Rows of logits of a pass beyond one for each stream: for drafts, and for prompts whose
// log-probabilities are wanted.
inline constexpr int64_t kSpareLogitRows = 16;

// What an engine is set up for.
struct MemorySetup {
  int64_t context = 0;  // positions of prompt and reply together
  int64_t streams = 1;
  int64_t pages = 0;         // of 64 positions, of all streams together
  uint64_t cache_bytes = 0;  // of the prompt cache
  int64_t round_rows = 128;

  PassLimits pass_limits() const {
    return {.rows = round_rows, .logit_rows = streams + kSpareLogitRows};
  }
};

// Bytes.
struct MemoryPlan {
  uint64_t weights = 0;    // mapped from the checkpoint, as far as the model reads them
  uint64_t kv = 0;         // keys and values of all pages
  uint64_t state = 0;      // recurrent and convolution state: two copies for each stream, and one
                           // that the replies to one prompt share; and what a draft window keeps
  uint64_t workspace = 0;  // activations of one forward pass
  uint64_t cache = 0;      // prompts kept for later
  uint64_t reserve = 0;    // tokenizer, program and what the system needs to go on

  uint64_t total() const { return weights + kv + state + workspace + cache + reserve; }
};

MemoryPlan plan_memory(const Model& model, const MemorySetup& setup);

// "1.5 GiB: 1.0 GiB weights, ...".
std::string describe_plan(const MemoryPlan& plan);

// Absent: sized to what is free.
struct MemoryWish {
  std::optional<int64_t> context = std::nullopt;
  std::optional<int64_t> streams = std::nullopt;
  std::optional<uint64_t> cache_bytes = std::nullopt;
  int64_t round_rows = 128;
};

inline constexpr int64_t kDefaultStreams = 16;
inline constexpr uint64_t kDefaultCacheBytes = uint64_t{8} << 30;  // at the most

// The setup for `available` bytes. What is not wished for: streams up to 16, whose states take a
// quarter of what the weights leave; a cache of a quarter of what is left then, 8 GiB at the most;
// a context up to the model's own; and pages for as many streams of the whole context as the rest
// holds, one at least. A wish that does not fit is an error that names every term and the context
// that would fit.
Result<MemorySetup> fit_memory(const Model& model, const MemoryWish& wish, uint64_t available);

// "1.5 GiB".
std::string format_bytes(uint64_t bytes);

}  // namespace lockstep
