// A message of a conversation.
#pragma once

#include <string>

namespace lockstep {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
  std::string thinking;  // of the assistant; given to the template as reasoning_content
};

}  // namespace lockstep
