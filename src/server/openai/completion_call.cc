#include "server/openai/completion_call.h"

#include <fmt/format.h>

#include <utility>

#include "server/openai/error_reply.h"
#include "server/prompt.h"

namespace lockstep::openai {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 31;
constexpr int64_t kDefaultTokens = 16;  // the dialect's

std::vector<int32_t> ids_of(Fields& fields, const json::array& list, int64_t vocab) {
  std::vector<int32_t> ids;
  for (const json::value& entry : list) {
    const int64_t* id = entry.if_int64();
    if (id == nullptr || *id < 0 || *id >= vocab) {
      fields.fail("prompt", fmt::format("prompt holds {}; token ids run from 0 to {}",
                                        describe_value(entry), vocab - 1));
      return {};
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

void read_prompt(Fields& fields, const ServedModel& model, Request& request) {
  const json::value* prompt = fields.any("prompt");
  // A list of one prompt is that prompt.
  if (const json::array* list = prompt == nullptr ? nullptr : prompt->if_array();
      list != nullptr && !list->empty() && !list->front().is_number()) {
    if (list->size() > 1) {
      return fields.fail(
          "prompt", fmt::format("prompt holds {} prompts; send a request for each", list->size()));
    }
    prompt = &list->front();
  }
  if (prompt == nullptr || !(prompt->is_string() || prompt->is_array())) {
    return fields.fail("prompt", "prompt is missing; it is a text or a list of token ids");
  }
  if (prompt->is_array()) {
    request.prompt = ids_of(fields, prompt->get_array(), model.limits.vocab);
  } else {
    auto encoded = encode_prompt(model.tokenizer, std::string(prompt->get_string()));
    if (!encoded.ok()) return fields.fail("prompt", encoded.error().message);
    request.prompt = std::move(encoded.value().ids);
    request.marks = std::move(encoded.value().marks);
  }
  if (request.prompt.empty() && !fields.error()) fields.fail("prompt", "prompt is empty");
}

}  // namespace

ApiStatus read_completion_call(const json::object& body, const ServedModel& model,
                               CompletionCall& call) {
  Fields fields(body);
  Request& request = call.generation.request;
  read_prompt(fields, model, request);
  request.max_tokens = fields.integer("max_tokens", 0, kMostTokens).value_or(kDefaultTokens);
  request.top_logprobs = fields.integer("logprobs", 0, kMaxTopLogprobs);
  read_common_fields(fields, model, call.generation, call.form);
  call.generation.reading.plain = true;
  if (fields.boolean("echo").value_or(false)) {
    request.prompt_logprobs = request.top_logprobs;
    call.echo = model.tokenizer.decode(request.prompt);
  }
  if (const auto suffix = fields.text("suffix"); suffix && !suffix->empty()) {
    fields.fail("suffix", "suffix is not supported: these models do not fill in text");
  }
  if (const auto best = fields.integer("best_of", 1, 20);
      best.value_or(request.replies) != request.replies) {
    fields.fail("best_of", "best_of can only be n");
  }
  if (request.prompt_logprobs && request.replies > 1) {
    fields.fail("echo", "echo with logprobs scores the prompt once: n can only be 1");
  }
  call.ignored = ignored_fields(fields);
  if (ApiStatus error = fields.finish()) return error;
  ApiStatus error = check_prompt_length(model, request.prompt.size());
  if (error) error->param = "prompt";
  return error;
}

}  // namespace lockstep::openai
