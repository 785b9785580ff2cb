// From messages to prompt text, by the template that came with a checkpoint.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/jinja/template.h"

namespace lockstep {

struct ChatInput {
  // As the chat API has them: role, content, tool_calls ... Calls' arguments must be objects, not
  // JSON in a string.
  json::array messages;
  std::optional<json::array> tools;
  bool add_generation_prompt = true;
  // Absent means that the template decides; it then sees no such variable.
  std::optional<bool> enable_thinking;
  std::optional<std::string> reasoning_effort;
  // Further variables for the template; these win over the ones above.
  json::object extra;
  // The caller's local time, for templates that print the date.
  std::optional<std::tm> now;
};

// Names and texts of the tokens that templates may mention: bos_token, eos_token ...
using SpecialTokens = std::vector<std::pair<std::string, std::string>>;

class ChatTemplate {
 public:
  // Equal to transformers' apply_chat_template(tokenize=False) given the same variables. Every
  // error is one sentence with the template's name and line.
  Result<std::string> render(const ChatInput& input) const;

  // The text that it was parsed from, and whether another one stands in where there are tools.
  const std::string& source() const { return source_; }
  bool has_tool_use() const { return tool_use_.has_value(); }

  void set_special_tokens(SpecialTokens tokens) { special_tokens_ = std::move(tokens); }
  // A template to use instead when there are tools.
  void set_tool_use(jinja::Template tool_use) { tool_use_ = std::move(tool_use); }

 private:
  friend Result<ChatTemplate> parse_chat_template(std::string source, std::string name);
  ChatTemplate(jinja::Template main, std::string source)
      : main_(std::move(main)), source_(std::move(source)) {}

  jinja::Template main_;
  std::string source_;
  std::optional<jinja::Template> tool_use_;
  SpecialTokens special_tokens_;
};

// `name` stands in messages.
Result<ChatTemplate> parse_chat_template(std::string source, std::string name);

// Looks in a checkpoint's folder for chat_template.jinja, then for a template in
// tokenizer_config.json (one, or named ones: "default" and "tool_use"), then for
// chat_template.json. Special tokens come from tokenizer_config.json.
Result<ChatTemplate> load_chat_template(const std::filesystem::path& folder);

}  // namespace lockstep
