#include "text/chat_template.h"

namespace lockstep {

Result<std::string> ChatTemplate::render(const ChatInput& input) const {
  jinja::Variables variables;
  for (const auto& [name, text] : special_tokens_) variables.emplace_back(name, text);
  variables.emplace_back("messages", input.messages);
  variables.emplace_back("tools", input.tools ? json::value(*input.tools) : json::value(nullptr));
  variables.emplace_back("documents", nullptr);
  variables.emplace_back("add_generation_prompt", input.add_generation_prompt);
  if (input.enable_thinking) variables.emplace_back("enable_thinking", *input.enable_thinking);
  if (input.reasoning_effort) variables.emplace_back("reasoning_effort", *input.reasoning_effort);
  for (const auto& item : input.extra) variables.emplace_back(item.key(), item.value());
  const bool use_tools = input.tools && tool_use_;
  return (use_tools ? *tool_use_ : main_).render(variables, input.now);
}

Result<ChatTemplate> parse_chat_template(std::string source, std::string name) {
  LOCKSTEP_ASSIGN_OR_RETURN(auto parsed, jinja::Template::parse(source, std::move(name)));
  return ChatTemplate(std::move(parsed), std::move(source));
}

}  // namespace lockstep
