#include "apps/conversation.h"

#include <utility>

namespace lockstep {

Conversation::Conversation(const std::optional<std::string>& system) {
  if (system) messages_.push_back({"system", *system, {}});
}

void Conversation::add_user(std::string text) {
  messages_.push_back({"user", std::move(text), {}});
  reply_index_ = 0;
}

void Conversation::add_reply(std::string answer, std::string thinking) {
  messages_.push_back({"assistant", std::move(answer), std::move(thinking)});
}

void Conversation::reset() {
  const bool has_system = !messages_.empty() && messages_.front().role == "system";
  messages_.resize(has_system ? 1 : 0);
  reply_index_ = 0;
}

bool Conversation::undo() {
  for (size_t i = messages_.size(); i-- > 0;) {
    if (messages_[i].role != "user") continue;
    messages_.resize(i);
    reply_index_ = 0;
    return true;
  }
  return false;
}

bool Conversation::take_back_reply() {
  if (messages_.empty() || messages_.back().role != "assistant") return false;
  messages_.pop_back();
  ++reply_index_;
  return true;
}

}  // namespace lockstep
