// What a caller asks of the engine: token ids and settings, no text.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/draft/acceptance.h"
#include "runtime/prompt_cache/save_points.h"
#include "sampling/logprobs.h"
#include "sampling/settings.h"
#include "sampling/token_constraint.h"

namespace lockstep {

// What the caller makes of a token that was drawn, before anything of it is kept.
struct TokenVerdict {
  bool keep = true;   // the token is part of the reply
  bool stop = false;  // nothing comes after it
};

struct Request {
  std::vector<int32_t> prompt = {};                    // at least one id
  std::optional<int64_t> max_tokens = std::nullopt;    // absent: to the end of the context
  SamplingSettings sampling = {};                      // reply i draws with reply_index + i
  int64_t replies = 1;                                 // [1, streams of the engine]
  std::vector<int32_t> stop_ids = {};                  // end the reply and are no part of it
  std::optional<int64_t> top_logprobs = std::nullopt;  // [0, kMaxTopLogprobs]; absent: none
  // The same for the prompt's own tokens, all but the first, with the request's first reply. They
  // need every row of it, so that reply resumes from no saved state. Absent: none.
  std::optional<int64_t> prompt_logprobs = std::nullopt;
  // Drafts of one window at the most, [0, kMostDrafts]; 0: no drafting. It changes no token.
  int64_t drafts = kMostDrafts;
  std::vector<int32_t> prediction = {};  // what the reply may be like, for copies; may be wrong
  std::shared_ptr<const TokenConstraint> constraint = nullptr;  // masks tokens; null: none
  // Where the prompt is worth a saved state, as whoever wrote it knows; in any order.
  std::vector<SavePoint> marks = {};
  bool use_cache = true;  // resume from saved states, and save some
  std::string salt = {};  // states are shared within one salt only; up to 256 opaque bytes
  // Sees each token of reply `reply` as it is drawn, on the engine's thread: this is where stops in
  // the text are found, so that the kept state does not stand beyond the last returned token
  // (docs/numerics.md, rule 23). Null: keep all.
  std::function<TokenVerdict(int64_t reply, int32_t id)> check = nullptr;
  // Looked at before each round; set: the replies end as cancelled. Null: only the handle cancels.
  const std::atomic<bool>* cancel = nullptr;
};

// What a model and an engine can hold.
struct RequestLimits {
  int64_t vocab = 0;
  int64_t context = 0;  // positions of prompt and reply together
  int64_t streams = 0;
};

// What is wrong with it, before anything runs.
Status check_request(const Request& request, const RequestLimits& limits);

// The most tokens that a reply may have.
int64_t reply_limit(const Request& request, const RequestLimits& limits);

}  // namespace lockstep
