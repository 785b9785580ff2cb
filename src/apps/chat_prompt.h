// A conversation as the checkpoint's template writes it.
#pragma once

#include <span>
#include <string>

#include "apps/chat_message.h"
#include "base/result.h"
#include "server/prompt.h"

namespace lockstep {

struct Engine;

// The prompt up to where the assistant's next reply begins. An engine without a template, and a
// template that refuses the messages, are errors.
Result<std::string> render_prompt(const Engine& engine, std::span<const ChatMessage> messages,
                                  bool no_think);

// The same as token ids.
Result<Prompt> encode_chat(const Engine& engine, std::span<const ChatMessage> messages,
                           bool no_think);

// The messages as a JSON array, indented.
std::string dump_messages(std::span<const ChatMessage> messages);

}  // namespace lockstep
