#include "server/prompt.h"

#include <optional>
#include <utility>

#include "text/chat_messages.h"
#include "text/reply/reply_parser.h"

namespace lockstep {
namespace {

Error bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// The text up to where the last message ends, without what closes its turn.
Result<std::string> cut_at_final(std::string text, const json::array& messages) {
  const json::object* last = messages.empty() ? nullptr : messages.back().if_object();
  const json::value* role = last == nullptr ? nullptr : last->if_contains("role");
  if (role == nullptr || *role != "assistant") {
    return bad("continue_final_message needs an assistant's message at the end");
  }
  if (last->contains("tool_calls")) {
    return bad("continue_final_message cannot go on from a message with tool_calls");
  }
  const json::string& content = last->at("content").as_string();
  // Templates strip the blanks around a text.
  const size_t end = std::string_view(content).find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos)
    return bad("continue_final_message needs a text to go on from");
  const std::string_view shown = std::string_view(content).substr(0, end + 1);
  const size_t begin = shown.find_first_not_of(" \t\r\n");
  const size_t at = text.rfind(shown.substr(begin));
  if (at == std::string::npos) {
    return bad("this model's template changes the last message, so it cannot be continued");
  }
  text.resize(at + shown.size() - begin);
  return text;
}

// Callers have no business with where the server's files lie.
Error without_folder(Error error, const std::string& folder) {
  const size_t at = folder.empty() ? std::string::npos : error.message.find(folder + "/");
  if (at != std::string::npos) error.message.erase(at, folder.size() + 1);
  return error;
}

}  // namespace

Result<std::string> render_messages(const ServedModel& model, ChatInput input,
                                    bool continue_final) {
  if (model.chat_template == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 model.template_fault + "; /v1/completions works without one"};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(input.messages, normalise_messages(input.messages));
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  input.now = local;
  if (continue_final) input.add_generation_prompt = false;
  auto rendered = model.chat_template->render(input);
  if (!rendered.ok()) return without_folder(rendered.error(), model.folder);
  std::string text = std::move(rendered).value();
  if (!continue_final) return text;
  return cut_at_final(std::move(text), input.messages);
}

Result<Prompt> encode_prompt(const Tokenizer& tokenizer, const std::string& text) {
  LOCKSTEP_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer.encode(text));
  std::vector<SavePoint> marks = prompt_marks(ids, tokenizer);
  return Prompt{std::move(ids), ends_in_thinking(text), std::move(marks)};
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

}  // namespace lockstep
