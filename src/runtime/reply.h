// What a request gets back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/draft/draft_counts.h"
#include "runtime/prompt_cache/prompt_cache.h"
#include "sampling/logprobs.h"
#include "sampling/settings.h"

namespace lockstep {

struct ReplyToken {
  int32_t id = 0;
  int64_t position = 0;                             // absolute
  std::optional<Logprobs> logprobs = std::nullopt;  // where the request asks for them
};

// Of a token of the prompt, by the rows before it.
struct PromptToken {
  int64_t position = 0;
  Logprobs logprobs;
};

enum class FinishReason : uint8_t {
  kStop,       // a stop id was drawn, or the request's own check ended the reply
  kLength,     // max_tokens, or the context is full
  kCancelled,  // nobody wants the rest
};

// "stop", "length", "cancelled".
const char* to_string(FinishReason reason);

struct ReplyTimings {
  double queue_seconds = 0.0;  // until the stream got its place
  int64_t prompt_tokens = 0;   // read or kept; fewer than the prompt has if it was cancelled
  int64_t cached_tokens = 0;   // of these: state that was kept, not read again
  std::optional<MissReason> cache_miss = std::nullopt;  // why not more; absent: no cache was asked
  double prompt_seconds = 0.0;
  int64_t reply_tokens = 0;
  int64_t decode_rounds = 0;  // rounds after the prompt; the first token needs none
  int64_t decode_draws = 0;   // draws in these: more than one where drafts were right
  double decode_seconds = 0.0;
  DraftCounts drafts;

  // Tokens a second; 0 where nothing was measured.
  double prompt_rate() const;
  double decode_rate() const;
};

// How a reply ended, well or not.
struct ReplyEnd {
  Status status = {};  // an error ends a reply by name: `finish` then says nothing
  FinishReason finish = FinishReason::kLength;
  std::optional<int32_t> stop_id =
      std::nullopt;  // the one that was drawn; it is no part of the reply
  ReplyTimings timings = {};
};

struct Reply {
  std::vector<PromptToken> prompt;  // from position 1 on, where the request asks for them
  std::vector<ReplyToken> tokens;
  ReplyEnd end;
  SamplingSettings sampling;  // with the seed that was used
};

}  // namespace lockstep
