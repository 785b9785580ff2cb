#include "apps/figures.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

std::string at_rate(double rate) {
  if (rate <= 0.0) return {};
  return fmt::format(" at {:.{}f} tok/s", rate, rate < 99.95 ? 1 : 0);
}

std::string tokens(int64_t count) {
  return fmt::format("{} token{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string describe_figures(const Reply& reply) {
  const ReplyTimings& timings = reply.end.timings;
  std::string kept;
  if (timings.cached_tokens > 0) kept = fmt::format(" ({} kept)", timings.cached_tokens);
  std::string drafts;
  if (timings.drafts.offered() > 0) {
    drafts =
        fmt::format(", {} of {} drafts right", timings.drafts.accepted(), timings.drafts.offered());
  }
  return fmt::format("prompt {}{}{}, reply {}{}{} ({})", tokens(timings.prompt_tokens), kept,
                     at_rate(timings.prompt_rate()), tokens(timings.reply_tokens),
                     at_rate(timings.decode_rate()), drafts, to_string(reply.end.finish));
}

}  // namespace lockstep
