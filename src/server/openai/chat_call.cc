#include "server/openai/chat_call.h"

#include <fmt/format.h>

#include <utility>

#include "server/openai/error_reply.h"
#include "server/prompt.h"
#include "server/thinking_budget.h"

namespace lockstep::openai {
namespace {

constexpr size_t kMostMessages = 4096;
constexpr int64_t kMostTokens = int64_t{1} << 31;

struct Effort {
  std::string_view given;
  bool thinks;
  std::string_view family;  // what the templates of the family know; empty: nothing is passed
};

// One table for the efforts of all dialects.
constexpr Effort kEfforts[] = {
    {"none", false, ""},        {"minimal", true, "low"}, {"low", true, "low"},
    {"medium", true, "medium"}, {"high", true, "xhigh"},  {"xhigh", true, "xhigh"},
    {"max", true, "xhigh"},
};

void read_effort(Fields& fields, ChatInput& input) {
  const auto given = fields.text("reasoning_effort");
  if (!given) return;
  for (const Effort& effort : kEfforts) {
    if (effort.given != *given) continue;
    if (!effort.thinks) input.enable_thinking = false;
    if (!effort.family.empty()) input.reasoning_effort = std::string(effort.family);
    return;
  }
  fields.fail("reasoning_effort",
              fmt::format("reasoning_effort is \"{}\"; none, minimal, low, medium, high, xhigh and "
                          "max are known",
                          *given));
}

void read_tools(Fields& fields, ChatInput& input, ReplyReaderOptions& reading) {
  const json::array* tools = fields.array("tools");
  const json::value* choice = fields.any("tool_choice");
  reading.one_call = !fields.boolean("parallel_tool_calls").value_or(true);
  bool use = true;
  if (choice != nullptr) {
    const json::string* word = choice->if_string();
    if (word != nullptr && *word == "none") {
      use = false;
    } else if (word == nullptr || *word != "auto") {
      fields.fail("tool_choice",
                  fmt::format("tool_choice is {}; a call cannot be required yet: \"auto\" and "
                              "\"none\" work",
                              describe_value(*choice)));
    }
  }
  if (tools == nullptr || tools->empty() || !use) return;
  auto signatures = lockstep::read_tools(*tools);
  if (!signatures.ok()) return fields.fail("tools", signatures.error().message);
  reading.tools = std::move(signatures).value();
  input.tools = *tools;
}

// The prompt's part of a chat's fields. False: the final message is not to be continued.
bool read_chat_input(Fields& fields, ChatInput& input, ReplyReaderOptions& reading) {
  const json::array* messages = fields.array("messages");
  if (messages == nullptr || messages->empty()) {
    fields.fail("messages", "messages is missing or empty; one message at least is needed");
  } else if (messages->size() > kMostMessages) {
    fields.fail("messages", fmt::format("there are {} messages; {} are the most", messages->size(),
                                        kMostMessages));
  } else {
    input.messages = *messages;
  }
  read_tools(fields, input, reading);
  read_effort(fields, input);
  if (const auto thinking = fields.boolean("enable_thinking")) input.enable_thinking = *thinking;
  if (const json::object* extra = fields.object("chat_template_kwargs")) {
    for (const char* name : {"messages", "tools", "add_generation_prompt"}) {
      if (!extra->contains(name)) continue;
      fields.fail("chat_template_kwargs",
                  fmt::format("chat_template_kwargs cannot hold {}: the request's own fields say "
                              "what it is",
                              name));
    }
    input.extra = *extra;
  }
  return fields.boolean("continue_final_message").value_or(false);
}

// What is defined in the dialect and not built here.
void refuse_unbuilt(Fields& fields) {
  for (const char* name : {"functions", "function_call", "audio", "web_search_options"}) {
    if (fields.has(name)) fields.fail(name, fmt::format("{} is not built yet", name));
    fields.skip(name);
  }
  if (const json::object* format = fields.object("response_format")) {
    const json::value* type = format->if_contains("type");
    if (type == nullptr || *type != "text") {
      fields.fail("response_format",
                  fmt::format("response_format of type {} is not built yet; {{\"type\": \"text\"}} "
                              "works",
                              type == nullptr ? "null" : describe_value(*type)));
    }
  }
  const json::array* modalities = fields.array("modalities");
  if (modalities != nullptr && *modalities != json::array{"text"}) {
    fields.fail("modalities", "modalities can only be [\"text\"]");
  }
}

void read_lengths(Fields& fields, ChatCall& call) {
  const auto most = fields.integer("max_completion_tokens", 1, kMostTokens);
  const auto older = fields.integer("max_tokens", 1, kMostTokens);
  call.generation.request.max_tokens = most ? most : older;
  if (most && older && *most != *older) {
    fields.fail("max_tokens", fmt::format("max_tokens is {} and max_completion_tokens {}; one will "
                                          "do",
                                          *older, *most));
  }
  call.logprobs = fields.boolean("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (top && !call.logprobs) fields.fail("top_logprobs", "top_logprobs goes with logprobs: true");
  if (call.logprobs) call.generation.request.top_logprobs = top.value_or(0);
}

}  // namespace

ApiStatus read_chat_call(const json::object& body, const ServedModel& model, ChatCall& call) {
  Fields fields(body);
  ChatInput input;
  ReplyReaderOptions& reading = call.generation.reading;
  const bool go_on = read_chat_input(fields, input, reading);
  read_lengths(fields, call);
  const auto budget = fields.integer("thinking_budget", 0, kMostTokens);
  read_common_fields(fields, model, call.generation, call.form);
  refuse_unbuilt(fields);
  call.ignored = ignored_fields(fields);
  if (const ApiStatus error = fields.finish()) return error;

  const auto text = render_messages(model, std::move(input), go_on);
  if (!text.ok()) {
    ApiError error = api_error(text.error());
    error.param = "messages";
    return error;
  }
  auto prompt = encode_prompt(model.tokenizer, text.value());
  if (!prompt.ok()) return api_error(prompt.error());
  reading.begins_in_thinking = prompt.value().begins_in_thinking;
  if (budget && reading.begins_in_thinking) {
    auto constraint = make_thinking_budget(model.tokenizer, model.limits.vocab, *budget);
    if (!constraint.ok()) return api_error(constraint.error());
    call.generation.request.constraint = std::move(constraint).value();
  }
  call.generation.request.marks = std::move(prompt.value().marks);
  call.generation.request.prompt = std::move(prompt.value().ids);
  return check_prompt_length(model, call.generation.request.prompt.size());
}

ApiStatus render_chat(const json::object& body, const ServedModel& model, std::string& text) {
  Fields fields(body);
  ChatInput input;
  ReplyReaderOptions reading;
  const bool go_on = read_chat_input(fields, input, reading);
  if (fields.error()) return fields.error();
  auto rendered = render_messages(model, std::move(input), go_on);
  if (!rendered.ok()) return api_error(rendered.error());
  text = std::move(rendered).value();
  return {};
}

}  // namespace lockstep::openai
