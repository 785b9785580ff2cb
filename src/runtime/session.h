// One conversation on one model: token ids in, token ids out, one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/forward_pass.h"
#include "model/sequence_state.h"
#include "sampling/logprobs.h"
#include "sampling/sampler.h"

namespace lockstep {

struct GenerateRequest {
  std::span<const int32_t> prompt;                   // at least one id
  std::optional<int64_t> max_tokens = std::nullopt;  // absent: to the end of the context
  SamplingSettings sampling = {};
  std::span<const int32_t> stop_ids = {};              // end the reply and are no part of it
  std::optional<int64_t> top_logprobs = std::nullopt;  // [0, kMaxTopLogprobs]; absent: no logprobs
};

struct ReplyToken {
  int32_t id = 0;
  int64_t position = 0;              // absolute
  std::optional<Logprobs> logprobs;  // where the request asks for them
};

enum class FinishReason : uint8_t {
  kStop,       // a stop id was drawn
  kLength,     // max_tokens, or the context is full
  kCancelled,  // the cancel flag
};

// "stop", "length", "cancelled".
const char* to_string(FinishReason reason);

struct ReplyTimings {
  int64_t prompt_tokens = 0;  // read or kept; fewer than the prompt has if it was cancelled
  int64_t cached_tokens = 0;  // of these: kept from the call before, not read again
  double prompt_seconds = 0.0;
  int64_t reply_tokens = 0;
  int64_t decode_rounds = 0;  // forward passes after the prompt; the first token needs none
  double decode_seconds = 0.0;

  // Tokens a second; 0 where nothing was measured.
  double prompt_rate() const;
  double decode_rate() const;
};

struct Reply {
  std::vector<ReplyToken> tokens;
  FinishReason finish = FinishReason::kLength;
  std::optional<int32_t> stop_id;  // the one that was drawn
  SamplingSettings sampling;       // with the seed that was used
  ReplyTimings timings;
};

class Session {
 public:
  using OnToken = std::function<void(const ReplyToken&)>;

  // `context`: positions of prompt and reply together. The pass outlives the session and serves one
  // session at a time.
  Session(ForwardPass& pass, int64_t context) : pass_(pass), context_(context) {}

  // What generate() would refuse, before anything runs.
  Status check(const GenerateRequest& request) const;

  // Reads the prompt in chunks and draws the reply. A prompt that begins with ids() and goes on
  // continues from there, any other starts afresh; neither shows in the reply. `on_token` is called
  // with every token as it is drawn. A set `cancel` ends the reply before the next forward pass.
  //
  // Errors: a request out of range; a prompt longer than the context; no memory; a value that is
  // not finite (kNumeric, with layer, stage, position and the weight that is broken). After an
  // error or a cancellation the session stands at the last token that went through the model, and
  // can be used.
  Result<Reply> generate(const GenerateRequest& request, const OnToken& on_token,
                         const std::atomic<bool>* cancel = nullptr);

  int64_t context() const { return context_; }
  // Tokens that the model's state stands after.
  std::span<const int32_t> ids() const { return ids_; }
  // Forgets them.
  void reset();

 private:
  Status continue_or_restart(std::span<const int32_t> prompt);
  Result<std::span<const float>> run(std::span<const int32_t> ids, bool want_logits);
  Result<std::span<const float>> read_prompt(std::span<const int32_t> prompt,
                                             const std::atomic<bool>* cancel);
  Status draw_reply(const GenerateRequest& request, std::span<const float> logits, Sampler& sampler,
                    const OnToken& on_token, const std::atomic<bool>* cancel, Reply& reply);

  ForwardPass& pass_;
  int64_t context_;
  std::optional<SequenceState> state_;  // made when first needed
  std::vector<int32_t> ids_;
  SamplerScratch scratch_;
};

}  // namespace lockstep
