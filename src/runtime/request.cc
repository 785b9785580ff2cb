#include "runtime/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/prompt_cache/cache_file.h"

namespace lockstep {
namespace {

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Status check_ids(const char* what, const std::vector<int32_t>& ids, int64_t vocab) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab) {
      return invalid(fmt::format("{} {} is not in the vocabulary of {} ids", what, id, vocab));
    }
  }
  return {};
}

Status check_prompt(const Request& request, const RequestLimits& limits) {
  if (request.prompt.empty()) return invalid("the prompt has no tokens");
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length > limits.context) {
    return invalid(
        fmt::format("the prompt has {} tokens, the context holds {}", length, limits.context));
  }
  return check_ids("token id", request.prompt, limits.vocab);
}

Status check_drafts(const Request& request, const RequestLimits& limits) {
  if (request.drafts < 0 || request.drafts > kMostDrafts) {
    return invalid(
        fmt::format("drafts is {}; it must be from 0 to {}", request.drafts, kMostDrafts));
  }
  const auto length = static_cast<int64_t>(request.prediction.size());
  if (length > limits.context) {
    return invalid(
        fmt::format("the prediction has {} tokens, the context holds {}", length, limits.context));
  }
  return check_ids("token id of the prediction", request.prediction, limits.vocab);
}

Status check_logprobs(const char* name, std::optional<int64_t> count) {
  if (!count || (*count >= 0 && *count <= kMaxTopLogprobs)) return {};
  return invalid(fmt::format("{} is {}; it must be from 0 to {}", name, *count, kMaxTopLogprobs));
}

}  // namespace

Status check_request(const Request& request, const RequestLimits& limits) {
  LOCKSTEP_RETURN_IF_ERROR(check_prompt(request, limits));
  if (request.max_tokens && *request.max_tokens < 0) {
    return invalid(fmt::format("max_tokens is {}; it must be at least 0", *request.max_tokens));
  }
  if (request.replies < 1 || request.replies > limits.streams) {
    return invalid(
        fmt::format("{} replies were asked for; it must be from 1 to {}, the streams of "
                    "this engine",
                    request.replies, limits.streams));
  }
  LOCKSTEP_RETURN_IF_ERROR(check_logprobs("logprobs", request.top_logprobs));
  LOCKSTEP_RETURN_IF_ERROR(check_logprobs("prompt_logprobs", request.prompt_logprobs));
  if (request.salt.size() > kMaxSaltBytes) {
    return invalid(fmt::format("a salt of {} bytes; it must have at most {}", request.salt.size(),
                               kMaxSaltBytes));
  }
  LOCKSTEP_RETURN_IF_ERROR(check_drafts(request, limits));
  LOCKSTEP_RETURN_IF_ERROR(check_settings(request.sampling));
  return check_token_ids(request.sampling, limits.vocab);
}

int64_t reply_limit(const Request& request, const RequestLimits& limits) {
  const int64_t room = limits.context - static_cast<int64_t>(request.prompt.size());
  return std::min(request.max_tokens.value_or(room), room);
}

}  // namespace lockstep
