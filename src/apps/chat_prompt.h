// A conversation as the checkpoint's template writes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/chat_message.h"
#include "base/result.h"
#include "runtime/prompt_cache/save_points.h"

namespace lockstep {

struct Engine;
class Tokenizer;

// The prompt up to where the assistant's next reply begins. An engine without a template, and a
// template that refuses the messages, are errors.
Result<std::string> render_prompt(const Engine& engine, std::span<const ChatMessage> messages,
                                  bool no_think);

struct ChatPrompt {
  std::vector<int32_t> ids;
  bool begins_in_thinking = false;    // it leaves a think block open
  std::vector<SavePoint> marks = {};  // where a later prompt may go another way
};

// The same as token ids.
Result<ChatPrompt> encode_chat(const Engine& engine, std::span<const ChatMessage> messages,
                               bool no_think);

// The points of a prompt at which a later one of the same conversation, or of another with the same
// system text, may part from it: the end of the first block, the end of the last turn, and just
// before the think tag of the reply to come.
std::vector<SavePoint> prompt_marks(std::span<const int32_t> ids, const Tokenizer& tokenizer);

// The messages as a JSON array, indented.
std::string dump_messages(std::span<const ChatMessage> messages);

}  // namespace lockstep
