#include "runtime/reply.h"

namespace lockstep {
namespace {

double rate(int64_t count, double seconds) {
  return count > 0 && seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0;
}

}  // namespace

const char* to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "?";
}

double ReplyTimings::prompt_rate() const {
  return rate(prompt_tokens - cached_tokens, prompt_seconds);
}

double ReplyTimings::decode_rate() const { return rate(decode_draws, decode_seconds); }

}  // namespace lockstep
