#include "server/openai/wire.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::openai {
namespace {

constexpr double kLeastLogprob = -9999.0;

const char* type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return json::value(text);
}

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

HttpReply error_reply(const ApiError& error) {
  const json::object body = {{"error", json::object{{"message", error.message},
                                                    {"type", type_of(error.status)},
                                                    {"param", text_or_null(error.param)},
                                                    {"code", text_or_null(error.code)}}}};
  return {.status = error.status, .body = dump_json(body)};
}

ApiError api_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
      return {.status = 400, .message = error.message};
    case ErrorCode::kNotFound:
      return {.status = 404, .message = error.message};
    case ErrorCode::kOutOfMemory:
      return {.status = 503, .message = error.message, .code = "out_of_memory"};
    case ErrorCode::kNumeric:
      return {.status = 500, .message = error.message, .code = "not_finite"};
    default:
      return {.status = 500, .message = error.message};
  }
}

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

json::object timings_json(const ReplyTimings& timings) {
  json::object object = {{"queue_seconds", timings.queue_seconds},
                         {"prompt_tokens", timings.prompt_tokens},
                         {"cached_tokens", timings.cached_tokens},
                         {"cache_miss", nullptr},
                         {"prompt_seconds", timings.prompt_seconds},
                         {"prompt_tokens_per_second", timings.prompt_rate()},
                         {"reply_tokens", timings.reply_tokens},
                         {"reply_seconds", timings.decode_seconds},
                         {"reply_tokens_per_second", timings.decode_rate()}};
  if (timings.cache_miss) object["cache_miss"] = to_string(*timings.cache_miss);
  return object;
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
