#include "server/openai/chat_reply.h"

#include <utility>

namespace lockstep::openai {
namespace {

using Kind = TextEvent::Kind;

void put_thinking(json::object& object, ReasoningField field, const std::string& text) {
  if (field != ReasoningField::kReasoning) object["reasoning_content"] = text;
  if (field != ReasoningField::kReasoningContent) object["reasoning"] = text;
}

json::object head_json(const ServedModel& model, const ReplyHead& head, const char* object) {
  return {{"id", head.id},
          {"object", object},
          {"created", head.created},
          {"model", model.name},
          {"system_fingerprint", model.fingerprint},
          {"seed", head.seed}};
}

json::object call_json(const std::string& name) {
  return {{"id", new_id("call")},
          {"type", "function"},
          {"function", json::object{{"name", name}, {"arguments", ""}}}};
}

}  // namespace

std::string chat_finish_reason(const GenerationEnd& end) {
  const bool stopped = end.end.finish == FinishReason::kStop;
  return stopped && end.calls > 0 && !end.stop ? "tool_calls" : to_string(end.end.finish);
}

ChatReply::ChatReply(const ServedModel& model, const ChatCall& call, ReplyHead head)
    : model_(model),
      head_(std::move(head)),
      logprobs_(call.logprobs),
      tokens_(call.form.return_tokens),
      choices_(static_cast<size_t>(call.generation.request.replies)) {}

void ChatReply::add(const GenerationStep& step) {
  Choice& choice = choices_[static_cast<size_t>(step.reply)];
  if (step.token != nullptr && step.token->logprobs) {
    choice.logprobs.push_back(logprob_json(model_.tokenizer, *step.token->logprobs));
  }
  if (step.token != nullptr && tokens_) choice.ids.push_back(step.token->id);
  for (const TextEvent& event : step.events) {
    switch (event.kind) {
      case Kind::kThinking:
        choice.thinking += event.text;
        break;
      case Kind::kContent:
        choice.content += event.text;
        break;
      case Kind::kCallBegin:
        choice.calls.push_back(call_json(event.text));
        choice.arguments.clear();
        break;
      case Kind::kArguments:
        choice.arguments += event.text;
        break;
      case Kind::kCallEnd:
      case Kind::kCallCut:
        choice.calls.back().at("function").as_object()["arguments"] = choice.arguments;
        break;
    }
  }
}

void ChatReply::end(const GenerationEnd& end) {
  Choice& choice = choices_[static_cast<size_t>(end.reply)];
  choice.rest = {{"finish_reason", chat_finish_reason(end)},
                 {"timings", timings_json(end.end.timings)}};
  if (end.stop) choice.rest["stop_reason"] = *end.stop;
  usage_.add(end.end.timings, end.thinking_tokens);
}

json::object ChatReply::choice_json(Choice& choice, int64_t index) const {
  json::object message = {{"role", "assistant"}, {"content", choice.content}};
  if (choice.content.empty() && !choice.calls.empty()) message["content"] = nullptr;
  if (!choice.thinking.empty()) put_thinking(message, head_.reasoning, choice.thinking);
  if (!choice.calls.empty()) message["tool_calls"] = std::move(choice.calls);
  json::object object = {{"index", index}, {"message", std::move(message)}, {"logprobs", nullptr}};
  if (logprobs_) object["logprobs"] = json::object{{"content", std::move(choice.logprobs)}};
  if (tokens_) object["token_ids"] = std::move(choice.ids);
  for (auto& [key, value] : choice.rest) object[key] = std::move(value);
  return object;
}

json::object ChatReply::take() {
  json::object object = head_json(model_, head_, "chat.completion");
  json::array list;
  for (size_t i = 0; i < choices_.size(); ++i) {
    list.push_back(choice_json(choices_[i], static_cast<int64_t>(i)));
  }
  object["choices"] = std::move(list);
  object["usage"] = usage_json(usage_);
  return object;
}

ChatChunks::ChatChunks(const ServedModel& model, const ChatCall& call, ReplyHead head)
    : model_(model),
      head_(std::move(head)),
      logprobs_(call.logprobs),
      tokens_(call.form.return_tokens),
      include_usage_(call.form.include_usage),
      calls_(static_cast<size_t>(call.generation.request.replies)) {}

json::object ChatChunks::chunk(int64_t index, json::object delta) const {
  json::object choice = {{"index", index},
                         {"delta", std::move(delta)},
                         {"logprobs", nullptr},
                         {"finish_reason", nullptr}};
  json::object object = head_json(model_, head_, "chat.completion.chunk");
  object["choices"] = json::array{std::move(choice)};
  if (include_usage_) object["usage"] = nullptr;
  return object;
}

json::object ChatChunks::delta_of(const TextEvent& event, int64_t& calls) const {
  json::object delta;
  json::object call;
  switch (event.kind) {
    case Kind::kThinking:
      put_thinking(delta, head_.reasoning, event.text);
      return delta;
    case Kind::kContent:
      return {{"content", event.text}};
    case Kind::kCallBegin:
      call = call_json(event.text);
      call["index"] = calls++;
      break;
    case Kind::kArguments:
      call = {{"index", calls - 1}, {"function", json::object{{"arguments", event.text}}}};
      break;
    case Kind::kCallEnd:
    case Kind::kCallCut:
      return delta;
  }
  delta["tool_calls"] = json::array{std::move(call)};
  return delta;
}

std::string ChatChunks::begin() {
  std::string text;
  for (size_t i = 0; i < calls_.size(); ++i) {
    text += event_of(chunk(static_cast<int64_t>(i), {{"role", "assistant"}, {"content", ""}}));
  }
  return text;
}

std::string ChatChunks::step(const GenerationStep& step) {
  int64_t& calls = calls_[static_cast<size_t>(step.reply)];
  std::vector<json::object> chunks;
  for (const TextEvent& event : step.events) {
    json::object delta = delta_of(event, calls);
    if (!delta.empty()) chunks.push_back(chunk(step.reply, std::move(delta)));
  }
  const bool told = step.token != nullptr && (tokens_ || step.token->logprobs);
  if (told && chunks.empty()) chunks.push_back(chunk(step.reply, {}));
  if (told) {
    json::object& choice = chunks.front()["choices"].as_array().front().as_object();
    if (step.token->logprobs) {
      choice["logprobs"] = json::object{
          {"content", json::array{logprob_json(model_.tokenizer, *step.token->logprobs)}}};
    }
    if (tokens_) choice["token_ids"] = json::array{step.token->id};
  }
  std::string text;
  for (json::object& object : chunks) text += event_of(std::move(object));
  return text;
}

std::string ChatChunks::end(const GenerationEnd& end) {
  usage_.add(end.end.timings, end.thinking_tokens);
  json::object object = chunk(end.reply, {});
  json::object& choice = object["choices"].as_array().front().as_object();
  choice["finish_reason"] = chat_finish_reason(end);
  choice["timings"] = timings_json(end.end.timings);
  if (end.stop) choice["stop_reason"] = *end.stop;
  return event_of(object);
}

std::string ChatChunks::usage() const {
  if (!include_usage_) return {};
  json::object object = head_json(model_, head_, "chat.completion.chunk");
  object["choices"] = json::array();
  object["usage"] = usage_json(usage_);
  return event_of(object);
}

}  // namespace lockstep::openai
