#include "apps/batch_line.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace lockstep {
namespace {

Error bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Error wrong_type(std::string_view key, const char* expected) {
  return bad(fmt::format("\"{}\" must be {}", key, expected));
}

// Each takes a value into its place.
Status take(std::string_view key, const json::value& value, std::optional<std::string>& out) {
  if (!value.is_string()) return wrong_type(key, "a string");
  out = std::string(value.as_string());
  return {};
}

Status take(std::string_view key, const json::value& value, bool& out) {
  if (!value.is_bool()) return wrong_type(key, "true or false");
  out = value.as_bool();
  return {};
}

Status take(std::string_view key, const json::value& value, std::optional<int64_t>& out) {
  boost::system::error_code error;
  const auto number = value.to_number<int64_t>(error);
  if (!value.is_number() || error) return wrong_type(key, "a whole number");
  out = number;
  return {};
}

Status take(std::string_view key, const json::value& value, std::optional<uint64_t>& out) {
  boost::system::error_code error;
  const auto number = value.to_number<uint64_t>(error);
  if (!value.is_number() || error) {
    return wrong_type(key, "a whole number from 0 to 18446744073709551615");
  }
  out = number;
  return {};
}

Status take(std::string_view key, const json::value& value, std::optional<double>& out) {
  if (!value.is_number()) return wrong_type(key, "a number");
  out = value.to_number<double>();
  return {};
}

Status take_ids(std::string_view key, const json::value& value, std::vector<int32_t>& out) {
  if (!value.is_array()) return wrong_type(key, "a list of token ids");
  out.clear();
  for (const json::value& item : value.as_array()) {
    boost::system::error_code error;
    const auto id = item.is_number() ? item.to_number<int32_t>(error) : -1;
    if (error || id < 0) return wrong_type(key, "a list of token ids");
    out.push_back(id);
  }
  return {};
}

// {"1234": -2.5}
Status take_biases(std::string_view key, const json::value& value, std::vector<LogitBias>& out) {
  constexpr const char* kExpected = "an object of token ids with numbers";
  if (!value.is_object()) return wrong_type(key, kExpected);
  out.clear();
  for (const auto& [id, bias] : value.as_object()) {
    LogitBias entry;
    const char* end = id.data() + id.size();
    const auto parsed = std::from_chars(id.data(), end, entry.id);
    if (parsed.ec != std::errc() || parsed.ptr != end || !bias.is_number()) {
      return wrong_type(key, kExpected);
    }
    entry.bias = bias.to_number<double>();
    out.push_back(entry);
  }
  return {};
}

Status take_messages(std::string_view key, const json::value& value,
                     std::vector<ChatMessage>& out) {
  constexpr const char* kExpected =
      "a list of messages, each with a \"role\" and a \"content\" that are strings";
  if (!value.is_array() || value.as_array().empty()) return wrong_type(key, kExpected);
  for (const json::value& item : value.as_array()) {
    if (!item.is_object()) return wrong_type(key, kExpected);
    ChatMessage message;
    for (const auto& [name, part] : item.as_object()) {
      std::string* place = name == "role"                ? &message.role
                           : name == "content"           ? &message.content
                           : name == "reasoning_content" ? &message.thinking
                                                         : nullptr;
      if (place == nullptr) {
        return bad(
            fmt::format("a message has the key \"{}\"; role, content and reasoning_content "
                        "are known",
                        std::string_view(name)));
      }
      if (!part.is_string()) return wrong_type(key, kExpected);
      *place = std::string(part.as_string());
    }
    if (message.role.empty()) return wrong_type(key, kExpected);
    out.push_back(std::move(message));
  }
  return {};
}

// As --draft says it: whether, or how many at the most.
Status take_draft(std::string_view key, const json::value& value, int64_t& out) {
  if (value.is_bool()) {
    out = value.as_bool() ? kMostDrafts : 0;
    return {};
  }
  std::optional<int64_t> most;
  const Status status = take(key, value, most);
  if (!status.ok()) return wrong_type(key, "true, false or a whole number");
  out = *most;
  return {};
}

constexpr const char* kKnownKeys =
    "id, prompt, messages, ids, system, raw, no_think, max_tokens, n, logprobs, "
    "prompt_logprobs, draft, prediction, temperature, top_k, top_p, min_p, repetition_penalty, "
    "presence_penalty, frequency_penalty, penalty_window, "
    "logit_bias, banned_tokens, allowed_tokens and seed";

// Absent if `key` names no sampler.
std::optional<Status> take_sampling(std::string_view key, const json::value& value,
                                    SamplingArgs& sampling) {
  if (key == "temperature") return take(key, value, sampling.temperature);
  if (key == "top_k") return take(key, value, sampling.top_k);
  if (key == "top_p") return take(key, value, sampling.top_p);
  if (key == "min_p") return take(key, value, sampling.min_p);
  if (key == "repetition_penalty") return take(key, value, sampling.repetition_penalty);
  if (key == "presence_penalty") return take(key, value, sampling.presence_penalty);
  if (key == "frequency_penalty") return take(key, value, sampling.frequency_penalty);
  if (key == "penalty_window") return take(key, value, sampling.penalty_window);
  if (key == "logit_bias") return take_biases(key, value, sampling.logit_bias);
  if (key == "banned_tokens") return take_ids(key, value, sampling.banned_tokens);
  if (key == "allowed_tokens") return take_ids(key, value, sampling.allowed_tokens);
  if (key == "seed") return take(key, value, sampling.seed);
  return std::nullopt;
}

Status take_key(std::string_view key, const json::value& value, BatchLine& line) {
  if (key == "id") {
    line.id = value;
    return {};
  }
  if (key == "prompt") return take(key, value, line.prompt);
  if (key == "messages") return take_messages(key, value, line.messages);
  if (key == "ids") return take_ids(key, value, line.ids);
  if (key == "system") return take(key, value, line.reply.system);
  if (key == "raw") return take(key, value, line.raw);
  if (key == "no_think") return take(key, value, line.reply.no_think);
  if (key == "max_tokens") return take(key, value, line.reply.max_tokens);
  if (key == "logprobs") return take(key, value, line.logprobs);
  if (key == "prediction") return take(key, value, line.prediction);
  if (key == "draft") return take_draft(key, value, line.reply.drafts);
  if (key == "prompt_logprobs") return take(key, value, line.prompt_logprobs);
  if (key == "n") {
    std::optional<int64_t> replies;
    LOCKSTEP_RETURN_IF_ERROR(take(key, value, replies));
    line.replies = *replies;
    return {};
  }
  if (const auto sampling = take_sampling(key, value, line.reply.sampling)) return *sampling;
  return bad(fmt::format("the key \"{}\" is not known; {} are", key, kKnownKeys));
}

Status check_sources(const BatchLine& line) {
  const int sources = line.prompt.has_value() + !line.messages.empty() + !line.ids.empty();
  if (sources != 1) {
    return bad(fmt::format("{} prompt: give one of \"prompt\", \"messages\" and \"ids\"",
                           sources == 0 ? "no" : "more than one"));
  }
  if (line.raw && !line.prompt) return bad("\"raw\" goes with \"prompt\" only");
  return {};
}

}  // namespace

Result<BatchLine> parse_batch_line(std::string_view text, const ReplyArgs& defaults,
                                   std::string_view what) {
  LOCKSTEP_ASSIGN_OR_RETURN(const json::value root, parse_json(text, what));
  if (!root.is_object()) return bad(fmt::format("{} is not a JSON object", what));
  BatchLine line;
  line.reply = defaults;
  const json::object& object = root.as_object();
  for (const auto& [key, value] : object) {
    const Status status = take_key(key, value, line);
    if (!status.ok()) return bad(fmt::format("{}: {}", what, status.error().message));
  }
  Status status = check_sources(line);
  const bool plain = line.prompt && !line.raw;
  if (status.ok() && object.contains("system") && !plain) {
    status = bad("\"system\" goes with a \"prompt\" that is not raw");
  }
  if (status.ok() && object.contains("no_think") && !plain && line.messages.empty()) {
    status = bad("\"no_think\" needs the chat template");
  }
  if (!status.ok()) return bad(fmt::format("{}: {}", what, status.error().message));
  return line;
}

}  // namespace lockstep
