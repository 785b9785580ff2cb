#include "server/openai/wire.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::openai {
namespace {

constexpr double kLeastLogprob = -9999.0;

json::object entry_json(const Tokenizer& tokenizer, const TokenLogprob& entry) {
  json::array bytes;
  for (const char byte : tokenizer.token_bytes(entry.id)) {
    bytes.push_back(static_cast<unsigned char>(byte));
  }
  return {{"token", tokenizer.decode({&entry.id, 1})},
          {"logprob", wire_logprob(entry.logprob)},
          {"bytes", std::move(bytes)}};
}

}  // namespace

void Usage::add(const ReplyTimings& timings, int64_t thinking_tokens) {
  prompt = std::max(prompt, timings.prompt_tokens);
  cached = std::max(cached, timings.cached_tokens);
  reply += timings.reply_tokens;
  thinking += thinking_tokens;
}

json::object usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt},
          {"completion_tokens", usage.reply},
          {"total_tokens", usage.prompt + usage.reply},
          {"prompt_tokens_details", json::object{{"cached_tokens", usage.cached}}},
          {"completion_tokens_details", json::object{{"reasoning_tokens", usage.thinking}}}};
}

double wire_logprob(double logprob) { return std::isfinite(logprob) ? logprob : kLeastLogprob; }

json::object logprob_json(const Tokenizer& tokenizer, const Logprobs& logprobs) {
  json::object object = entry_json(tokenizer, logprobs.chosen);
  json::array top;
  for (const TokenLogprob& entry : logprobs.top) top.push_back(entry_json(tokenizer, entry));
  object["top_logprobs"] = std::move(top);
  return object;
}

std::string new_id(std::string_view prefix) {
  return fmt::format("{}-{:014x}{:010x}", prefix, random_seed(), random_seed() >> 13);
}

std::string event_of(const json::value& value) {
  return fmt::format("data: {}\n\n", dump_json(value));
}

}  // namespace lockstep::openai
