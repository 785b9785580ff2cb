// The caller's end of a request: its events, and the means to leave.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "runtime/reply.h"

namespace lockstep {

class Mailbox;

struct ReplyEvent {
  int64_t reply = 0;  // which of the request's replies
  std::variant<ReplyToken, ReplyEnd, PromptToken> what;
};

// Dropping it cancels what has not ended.
class ReplyStream {
 public:
  explicit ReplyStream(std::shared_ptr<Mailbox> mailbox);
  ~ReplyStream();
  ReplyStream(ReplyStream&&) = default;
  ReplyStream& operator=(ReplyStream&& other);

  // The next event, waited for; nothing once every reply has ended.
  std::optional<ReplyEvent> next();
  // The same, waited for so long at the most: nothing may also mean that nothing has come.
  std::optional<ReplyEvent> next_for(std::chrono::milliseconds patience);
  // Every reply has ended and its end was taken.
  bool ended() const;

  // The replies end as cancelled before the next round; their ends still come.
  void cancel();

  // Numbers requests of one engine, from 1.
  uint64_t request() const;
  // With the seed that is used.
  const SamplingSettings& sampling() const;

 private:
  std::shared_ptr<Mailbox> mailbox_;
};

using OnReplyToken = std::function<void(int64_t reply, const ReplyToken& token)>;

// Waits for all replies; `on_token` (may be null) sees each token as it comes.
std::vector<Reply> collect_replies(ReplyStream& stream, const OnReplyToken& on_token = nullptr);

}  // namespace lockstep
