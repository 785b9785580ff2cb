#include "text/chat_messages.h"

#include <gtest/gtest.h>

#include "text/chat_template.h"

namespace lockstep {
namespace {

json::array read(std::string_view text) { return parse_json(text, "messages").value().as_array(); }

std::string normalised(std::string_view text) {
  const auto messages = normalise_messages(read(text));
  return messages.ok() ? dump_json(messages.value()) : "error: " + messages.error().message;
}

TEST(ChatMessages, FollowTheTable) {
  const struct {
    const char* given;
    const char* want;
  } cases[] = {
      {R"([{"role": "user", "content": "Hi"}])", R"([{"role": "user", "content": "Hi"}])"},
      {R"([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}])",
       R"([{"role": "user", "content": "ab"}])"},
      {R"([{"role": "user", "content": "Hi"}, {"role": "developer", "content": "Be brief."},
           {"role": "system", "content": " "}, {"role": "system", "content": "Be kind."}])",
       R"([{"role": "system", "content": "Be brief.\n\nBe kind."}, {"role": "user", "content": "Hi"}])"},
      {R"([])", R"([{"role": "user", "content": ""}])"},
      {R"([{"role": "system", "content": "S"}, {"role": "assistant", "content": null}])",
       R"([{"role": "system", "content": "S"}, {"role": "user", "content": ""}, )"
       R"({"role": "assistant", "content": ""}])"},
      {R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": "a", "reasoning": "r"}])",
       R"([{"role": "user", "content": "u"}, )"
       R"({"role": "assistant", "content": "a", "reasoning_content": "r"}])"},
      {R"([{"role": "user", "content": "u"},
           {"role": "assistant", "reasoning": "r", "reasoning_content": "c"}])",
       R"([{"role": "user", "content": "u"}, )"
       R"({"role": "assistant", "content": "", "reasoning_content": "c"}])"},
      {R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": "", "tool_calls": [
           {"id": "1", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
           {"id": "2", "function": {"name": "g", "arguments": ""}},
           {"id": "3", "function": {"name": "h", "arguments": "{\"cut"}},
           {"id": "4", "function": {"name": "i"}}]},
           {"role": "function", "name": "f", "content": "2"}])",
       R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": "", "tool_calls": [)"
       R"({"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}, )"
       R"({"id": "2", "function": {"name": "g", "arguments": {}}}, )"
       R"({"id": "3", "function": {"name": "h", "arguments": {"arguments": "{\"cut"}}}, )"
       R"({"id": "4", "function": {"name": "i", "arguments": {}}}]}, )"
       R"({"role": "tool", "name": "f", "content": "2"}])"},
      {R"([{"role": "user", "content": "u"},
           {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}])",
       R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": "", "tool_calls": )"
       R"([{"type": "function", "function": {"name": "f", "arguments": {}}}]}])"},
      {R"([{"role": "user", "content": "u"}, {"role": "assistant", "tool_calls": null}])",
       R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": ""}])"},
  };
  for (const auto& c : cases) EXPECT_EQ(normalised(c.given), c.want) << c.given;
}

TEST(ChatMessages, WhatCannotBeReadIsRefusedByPlace) {
  const struct {
    const char* given;
    const char* want;
  } cases[] = {
      {R"([3])", "messages[0] is no object"},
      {R"([{"content": "x"}])", "messages[0] has no role"},
      {R"([{"role": "user", "content": "x"}, {"role": "robot"}])", "messages[1].role is \"robot\""},
      {R"([{"role": "user", "content": 3}])",
       "messages[0].content is neither text nor a list of parts"},
      {R"([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])",
       "messages[0].content[0] is of type \"image_url\""},
      {R"([{"role": "user", "content": [{"type": "text"}]}])",
       "messages[0].content[0] has no text"},
      {R"([{"role": "user", "content": ["x"]}])", "messages[0].content[0] has no type"},
      {R"([{"role": "assistant", "tool_calls": {}}])", "messages[0].tool_calls is no list"},
  };
  for (const auto& c : cases) {
    EXPECT_NE(normalised(c.given).find(std::string("error: ") + c.want), std::string::npos)
        << normalised(c.given);
  }
}

// Raises where the family's own templates do.
constexpr const char* kStrictTemplate =
    "{% set ns = namespace(users=0) %}"
    "{% for m in messages %}"
    "{% if m.role == 'system' and not loop.first %}{{ raise_exception('late system') }}{% endif %}"
    "{% if m.role == 'developer' %}{{ raise_exception('unknown role') }}{% endif %}"
    "{% if m.role == 'user' %}{% set ns.users = ns.users + 1 %}{% endif %}"
    "{% for c in m.tool_calls or [] %}"
    "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}{% endfor %}"
    "{{ m.content + '|' }}"
    "{% endfor %}"
    "{% if ns.users == 0 %}{{ raise_exception('no user') }}{% endif %}";

TEST(ChatMessages, AStrictTemplateTakesWhatComesOut) {
  const ChatTemplate chat_template = parse_chat_template(kStrictTemplate, "strict").value();
  for (const char* given :
       {R"([{"role": "user", "content": "u"}, {"role": "system", "content": "late"}])",
        R"([{"role": "assistant", "content": "I begin."}])",
        R"([{"role": "developer", "content": "d"}])",
        R"([{"role": "user", "content": "u"}, {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "f", "arguments": "{}"}}]}])"}) {
    ChatInput raw;
    raw.messages = read(given);
    EXPECT_FALSE(chat_template.render(raw).ok()) << given;
    ChatInput input;
    input.messages = normalise_messages(read(given)).value();
    EXPECT_TRUE(chat_template.render(input).ok()) << given;
  }
}

}  // namespace
}  // namespace lockstep
