#include "apps/chat_prompt.h"

#include <ctime>
#include <optional>
#include <utility>

#include "apps/engine.h"
#include "base/json.h"
#include "text/reply/reply_parser.h"

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

Result<ChatPrompt> encode_chat(const Engine& engine, std::span<const ChatMessage> messages,
                               bool no_think) {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string text, render_prompt(engine, messages, no_think));
  LOCKSTEP_ASSIGN_OR_RETURN(std::vector<int32_t> ids, engine.tokenizer.encode(text));
  std::vector<SavePoint> marks = prompt_marks(ids, engine.tokenizer);
  return ChatPrompt{std::move(ids), ends_in_thinking(text), std::move(marks)};
}

std::vector<SavePoint> prompt_marks(std::span<const int32_t> ids, const Tokenizer& tokenizer) {
  const std::optional<int32_t> start = tokenizer.find_token("<|im_start|>");
  const std::optional<int32_t> think = tokenizer.find_token("<think>");
  std::vector<SavePoint> marks;
  int64_t blocks = 0;
  int64_t last_block = 0;
  int64_t last_think = -1;  // of the last block
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (ids[i] == start) {
      if (++blocks == 2) marks.push_back({at, SaveKind::kSystem});
      last_block = at;
      last_think = -1;
    } else if (ids[i] == think) {
      last_think = at;
    }
  }
  if (blocks >= 3) marks.push_back({last_block, SaveKind::kUserTurn});
  if (last_think >= 0) marks.push_back({last_think, SaveKind::kBeforeThinking});
  return marks;
}

std::string dump_messages(std::span<const ChatMessage> messages) {
  return dump_json(messages_json(messages), 2);
}

}  // namespace lockstep
