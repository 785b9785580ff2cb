#include "apps/chat_prompt.h"

#include <ctime>
#include <utility>

#include "apps/engine.h"
#include "base/json.h"

namespace lockstep {
namespace {

json::array messages_json(std::span<const ChatMessage> messages) {
  json::array list;
  for (const ChatMessage& message : messages) {
    json::object item = {{"role", message.role}, {"content", message.content}};
    if (!message.thinking.empty()) item["reasoning_content"] = message.thinking;
    list.push_back(std::move(item));
  }
  return list;
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  return local;
}

}  // namespace

Result<std::string> render_prompt(const Engine& engine, std::span<const ChatMessage> messages,
                                  bool no_think) {
  if (!engine.chat_template) {
    return Error{ErrorCode::kUnsupported, engine.template_fault + "; --raw runs without one"};
  }
  ChatInput input;
  input.messages = messages_json(messages);
  if (no_think) input.enable_thinking = false;
  input.now = local_time();
  return engine.chat_template->render(input);
}

Result<Prompt> encode_chat(const Engine& engine, std::span<const ChatMessage> messages,
                           bool no_think) {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string text, render_prompt(engine, messages, no_think));
  return encode_prompt(engine.tokenizer, text);
}

std::string dump_messages(std::span<const ChatMessage> messages) {
  return dump_json(messages_json(messages), 2);
}

}  // namespace lockstep
