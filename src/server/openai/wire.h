// The parts of answers that OpenAI's dialects have in common.
#pragma once

#include <string>

#include "base/json.h"
#include "runtime/reply.h"
#include "sampling/settings.h"
#include "server/timings.h"
#include "text/tokenizer.h"

namespace lockstep::openai {

struct Usage {
  int64_t prompt = 0;
  int64_t cached = 0;
  int64_t reply = 0;
  int64_t thinking = 0;

  void add(const ReplyTimings& timings, int64_t thinking_tokens);
};
json::object usage_json(const Usage& usage);

// {"token", "logprob", "bytes", "top_logprobs"}.
json::object logprob_json(const Tokenizer& tokenizer, const Logprobs& logprobs);
// Minus infinity has no place in JSON: the most negative number that clients expect stands for it.
double wire_logprob(double logprob);

// "chatcmpl-" and 24 random digits, say.
std::string new_id(std::string_view prefix);

// An event of a stream: "data: {...}\n\n".
std::string event_of(const json::value& value);
inline constexpr std::string_view kDone = "data: [DONE]\n\n";
inline constexpr std::string_view kKeepAlive = ": keep-alive\n\n";

}  // namespace lockstep::openai
