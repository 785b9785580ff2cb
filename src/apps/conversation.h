// The messages of a chat and what its commands do to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/chat_message.h"

namespace lockstep {

class Conversation {
 public:
  explicit Conversation(const std::optional<std::string>& system);

  const std::vector<ChatMessage>& messages() const { return messages_; }
  // Tells the replies to one message apart: 0, and one more for each time it is made again.
  uint32_t reply_index() const { return reply_index_; }

  void add_user(std::string text);
  void add_reply(std::string answer, std::string thinking);

  // Back to the system message.
  void reset();
  // Takes the last message of the user back, and what came after; false if there is none.
  bool undo();
  // Takes the last reply back so that it can be made again; false if there is none.
  bool take_back_reply();

 private:
  std::vector<ChatMessage> messages_;
  uint32_t reply_index_ = 0;
};

}  // namespace lockstep
