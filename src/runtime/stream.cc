#include "runtime/stream.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// What the stream has had of the engine until now.
ReplyTimings timings_now(const Stream& stream) {
  const auto now = Clock::now();
  ReplyTimings timings = stream.timings;
  const int64_t prompt = stream.group->prompt_size();
  timings.reply_tokens = stream.drawn();
  if (!stream.started) {
    timings.queue_seconds = seconds_between(stream.group->submitted, now);
    return timings;
  }
  const bool read = stream.first_token != Clock::time_point();
  const int64_t position = stream.state == nullptr ? 0 : stream.state->position();
  timings.prompt_tokens = read ? prompt : std::min(prompt, position);
  timings.prompt_seconds = seconds_between(stream.entered, read ? stream.first_token : now);
  if (read) timings.decode_seconds = seconds_between(stream.first_token, now);
  return timings;
}

}  // namespace

bool RequestGroup::is_cancelled() const {
  return mailbox->is_cancelled() ||
         (request.cancel != nullptr && request.cancel->load(std::memory_order_relaxed));
}

Stream::Stream(std::shared_ptr<RequestGroup> its_group, int64_t its_reply, uint64_t its_arrival,
               Sampler its_sampler)
    : group(std::move(its_group)),
      reply(its_reply),
      arrival(its_arrival),
      sampler(std::move(its_sampler)),
      ids(group->request.prompt) {}

void Stream::finish(FinishReason reason, std::optional<int32_t> stop_id) {
  end = ReplyEnd{.status = {}, .finish = reason, .stop_id = stop_id, .timings = timings_now(*this)};
}

void Stream::fail(Error error) {
  end = ReplyEnd{.status = std::move(error), .stop_id = {}, .timings = timings_now(*this)};
}

}  // namespace lockstep
