#include "runtime/reply_stream.h"

#include <utility>

#include "runtime/mailbox.h"

namespace lockstep {

void Mailbox::put(ReplyEvent event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  filled_.notify_one();
}

std::optional<ReplyEvent> Mailbox::take(std::optional<std::chrono::milliseconds> patience) {
  std::unique_lock lock(mutex_);
  if (open_ == 0) return std::nullopt;
  const auto filled = [&] { return !events_.empty(); };
  if (!patience) {
    filled_.wait(lock, filled);
  } else if (!filled_.wait_for(lock, *patience, filled)) {
    return std::nullopt;
  }
  ReplyEvent event = std::move(events_.front());
  events_.pop_front();
  if (std::holds_alternative<ReplyEnd>(event.what)) --open_;
  return event;
}

ReplyStream::ReplyStream(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

ReplyStream::~ReplyStream() {
  if (mailbox_ != nullptr) mailbox_->cancel();
}

ReplyStream& ReplyStream::operator=(ReplyStream&& other) {
  if (mailbox_ != nullptr && mailbox_ != other.mailbox_) mailbox_->cancel();
  mailbox_ = std::move(other.mailbox_);
  return *this;
}

bool Mailbox::has_ended() {
  const std::lock_guard lock(mutex_);
  return open_ == 0;
}

std::optional<ReplyEvent> ReplyStream::next() { return mailbox_->take(std::nullopt); }

std::optional<ReplyEvent> ReplyStream::next_for(std::chrono::milliseconds patience) {
  return mailbox_->take(patience);
}

bool ReplyStream::ended() const { return mailbox_->has_ended(); }

void ReplyStream::cancel() { mailbox_->cancel(); }

uint64_t ReplyStream::request() const { return mailbox_->request(); }

const SamplingSettings& ReplyStream::sampling() const { return mailbox_->sampling(); }

std::vector<Reply> collect_replies(ReplyStream& stream, const OnReplyToken& on_token) {
  std::vector<Reply> replies;
  while (auto event = stream.next()) {
    const auto index = static_cast<size_t>(event->reply);
    if (replies.size() <= index) replies.resize(index + 1);
    Reply& reply = replies[index];
    if (auto* token = std::get_if<ReplyToken>(&event->what)) {
      reply.tokens.push_back(std::move(*token));
      if (on_token) on_token(event->reply, reply.tokens.back());
    } else if (auto* scored = std::get_if<PromptToken>(&event->what)) {
      reply.prompt.push_back(std::move(*scored));
    } else {
      reply.end = std::get<ReplyEnd>(std::move(event->what));
      reply.sampling = stream.sampling();
      reply.sampling.reply_index += static_cast<uint32_t>(index);
    }
  }
  return replies;
}

}  // namespace lockstep
