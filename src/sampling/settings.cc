#include "sampling/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace lockstep {
namespace {

// False for a NaN.
bool within(double value, double low, double high) { return value >= low && value <= high; }

Error out_of_range(const char* name, double value, const char* allowed) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} is {}; it must be {}", name, value, allowed)};
}

Status check_count(const char* name, int64_t value, const char* zero) {
  if (value >= 0 && value < int64_t{1} << 31) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} is {}; it must be from 0 ({}) to 2147483647", name, value, zero)};
}

Status check_penalties(const SamplingSettings& settings) {
  if (!within(settings.repetition_penalty, 0.0, 100.0) || settings.repetition_penalty == 0.0) {
    return out_of_range("repetition_penalty", settings.repetition_penalty,
                        "above 0 and at most 100; 1 is off");
  }
  if (!within(settings.presence_penalty, -100.0, 100.0)) {
    return out_of_range("presence_penalty", settings.presence_penalty,
                        "from -100 to 100; 0 is off");
  }
  if (!within(settings.frequency_penalty, -100.0, 100.0)) {
    return out_of_range("frequency_penalty", settings.frequency_penalty,
                        "from -100 to 100; 0 is off");
  }
  return check_count("penalty_window", settings.penalty_window, "all tokens");
}

Status check_biases(const std::vector<LogitBias>& biases) {
  std::vector<int32_t> ids;
  for (const LogitBias& entry : biases) {
    if (!within(entry.bias, -100.0, 100.0)) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("logit_bias of token {} is {}; it must be from -100 to 100",
                               entry.id, entry.bias)};
    }
    ids.push_back(entry.id);
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("logit_bias names token {} more than once", *twice)};
}

}  // namespace

Status check_settings(const SamplingSettings& settings) {
  if (!within(settings.temperature, 0.0, 100.0)) {
    return out_of_range("temperature", settings.temperature, "from 0 (greedy) to 100");
  }
  LOCKSTEP_RETURN_IF_ERROR(check_count("top_k", settings.top_k, "off"));
  if (!within(settings.top_p, 0.0, 1.0) || settings.top_p == 0.0) {
    return out_of_range("top_p", settings.top_p, "above 0 and at most 1 (off)");
  }
  if (!within(settings.min_p, 0.0, 1.0)) {
    return out_of_range("min_p", settings.min_p, "from 0 (off) to 1");
  }
  LOCKSTEP_RETURN_IF_ERROR(check_penalties(settings));
  return check_biases(settings.logit_bias);
}

Status check_token_ids(const SamplingSettings& settings, int64_t vocab_size) {
  const auto check = [&](const char* name, int32_t id) -> Status {
    if (id >= 0 && id < vocab_size) return {};
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} names token {}, which is not in the vocabulary of {} ids", name,
                             id, vocab_size)};
  };
  for (const LogitBias& entry : settings.logit_bias) {
    LOCKSTEP_RETURN_IF_ERROR(check("logit_bias", entry.id));
  }
  for (const int32_t id : settings.banned_tokens) {
    LOCKSTEP_RETURN_IF_ERROR(check("banned_tokens", id));
  }
  for (const int32_t id : settings.allowed_tokens) {
    LOCKSTEP_RETURN_IF_ERROR(check("allowed_tokens", id));
  }
  return {};
}

uint64_t random_seed() {
  std::random_device device;
  const uint64_t bits = uint64_t{device()} << 32 | device();
  return bits >> 11;
}

}  // namespace lockstep
