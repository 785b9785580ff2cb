#include "server/openai/completion_reply.h"

#include <utility>

namespace lockstep::openai {
namespace {

json::object head_json(const ServedModel& model, const ReplyHead& head) {
  return {{"id", head.id},
          {"object", "text_completion"},
          {"created", head.created},
          {"model", model.name},
          {"system_fingerprint", model.fingerprint},
          {"seed", head.seed}};
}

std::string text_of(const GenerationStep& step) {
  std::string text;
  for (const TextEvent& event : step.events) text += event.text;
  return text;
}

json::object ending_of(const GenerationEnd& end) {
  json::object rest = {{"finish_reason", to_string(end.end.finish)},
                       {"timings", timings_json(end.end.timings)}};
  if (end.stop) rest["stop_reason"] = *end.stop;
  return rest;
}

}  // namespace

void TokenLists::add_first(const Tokenizer& tokenizer, int32_t id) {
  tokens.push_back(json::string(tokenizer.decode({&id, 1})));
  token_logprobs.push_back(nullptr);
  top_logprobs.push_back(nullptr);
  text_offset.push_back(0);
}

void TokenLists::add(const Tokenizer& tokenizer, const Logprobs& logprobs, size_t offset) {
  tokens.push_back(json::string(tokenizer.decode({&logprobs.chosen.id, 1})));
  token_logprobs.push_back(wire_logprob(logprobs.chosen.logprob));
  json::object top;
  for (const TokenLogprob& entry : logprobs.top) {
    top[tokenizer.decode({&entry.id, 1})] = wire_logprob(entry.logprob);
  }
  top_logprobs.push_back(std::move(top));
  text_offset.push_back(offset);
}

json::object TokenLists::take() {
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(token_logprobs)},
          {"top_logprobs", std::move(top_logprobs)},
          {"text_offset", std::move(text_offset)}};
}

CompletionReply::CompletionReply(const ServedModel& model, const CompletionCall& call,
                                 ReplyHead head)
    : model_(model),
      head_(std::move(head)),
      logprobs_(call.generation.request.top_logprobs.has_value()),
      tokens_(call.form.return_tokens),
      choices_(static_cast<size_t>(call.generation.request.replies)) {
  for (Choice& choice : choices_) choice.text = call.echo;
  const Request& request = call.generation.request;
  if (!request.prompt_logprobs) return;
  choices_.front().lists.add_first(model.tokenizer, request.prompt.front());
  prompt_bytes_ = model.tokenizer.token_bytes(request.prompt.front()).size();
}

void CompletionReply::add_prompt(const PromptToken& token) {
  choices_.front().lists.add(model_.tokenizer, token.logprobs, prompt_bytes_);
  prompt_bytes_ += model_.tokenizer.token_bytes(token.logprobs.chosen.id).size();
}

void CompletionReply::add(const GenerationStep& step) {
  Choice& choice = choices_[static_cast<size_t>(step.reply)];
  if (step.token != nullptr && step.token->logprobs) {
    choice.lists.add(model_.tokenizer, *step.token->logprobs, choice.text.size());
  }
  if (step.token != nullptr && tokens_) choice.ids.push_back(step.token->id);
  choice.text += text_of(step);
}

void CompletionReply::end(const GenerationEnd& end) {
  choices_[static_cast<size_t>(end.reply)].rest = ending_of(end);
  usage_.add(end.end.timings, 0);
}

json::object CompletionReply::take() {
  json::object object = head_json(model_, head_);
  json::array list;
  for (size_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    json::object entry = {{"index", i}, {"text", choice.text}, {"logprobs", nullptr}};
    if (logprobs_) entry["logprobs"] = choice.lists.take();
    if (tokens_) entry["token_ids"] = std::move(choice.ids);
    for (auto& [key, value] : choice.rest) entry[key] = std::move(value);
    list.push_back(std::move(entry));
  }
  object["choices"] = std::move(list);
  object["usage"] = usage_json(usage_);
  return object;
}

CompletionChunks::CompletionChunks(const ServedModel& model, const CompletionCall& call,
                                   ReplyHead head)
    : model_(model),
      head_(std::move(head)),
      echo_(call.echo),
      tokens_(call.form.return_tokens),
      include_usage_(call.form.include_usage),
      shown_(static_cast<size_t>(call.generation.request.replies), call.echo.size()) {
  const Request& request = call.generation.request;
  scored_ = request.prompt_logprobs.has_value();
  if (!scored_) return;
  prompt_.add_first(model.tokenizer, request.prompt.front());
  prompt_bytes_ = model.tokenizer.token_bytes(request.prompt.front()).size();
}

void CompletionChunks::add_prompt(const PromptToken& token) {
  prompt_.add(model_.tokenizer, token.logprobs, prompt_bytes_);
  prompt_bytes_ += model_.tokenizer.token_bytes(token.logprobs.chosen.id).size();
}

json::object CompletionChunks::chunk(int64_t index, const std::string& text) const {
  json::object object = head_json(model_, head_);
  object["choices"] = json::array{json::object{
      {"index", index}, {"text", text}, {"logprobs", nullptr}, {"finish_reason", nullptr}}};
  if (include_usage_) object["usage"] = nullptr;
  return object;
}

// A prompt that is scored is given with its figures, before the reply's first token.
std::string CompletionChunks::give_echo() {
  std::string text;
  const std::string echo = std::exchange(echo_, {});
  if (echo.empty()) return text;
  for (size_t i = 0; i < shown_.size(); ++i) {
    json::object object = chunk(static_cast<int64_t>(i), echo);
    if (scored_) {
      object["choices"].as_array().front().as_object()["logprobs"] = prompt_.take();
    }
    text += event_of(object);
  }
  return text;
}

std::string CompletionChunks::begin() { return scored_ ? std::string() : give_echo(); }

std::string CompletionChunks::step(const GenerationStep& step) {
  const std::string text = text_of(step);
  const bool told = step.token != nullptr && (tokens_ || step.token->logprobs);
  if (text.empty() && !told) return {};
  const std::string before = give_echo();
  json::object object = chunk(step.reply, text);
  json::object& choice = object["choices"].as_array().front().as_object();
  size_t& shown = shown_[static_cast<size_t>(step.reply)];
  if (step.token != nullptr && step.token->logprobs) {
    TokenLists lists;
    lists.add(model_.tokenizer, *step.token->logprobs, shown);
    choice["logprobs"] = lists.take();
  }
  if (step.token != nullptr && tokens_) choice["token_ids"] = json::array{step.token->id};
  shown += text.size();
  return before + event_of(object);
}

std::string CompletionChunks::end(const GenerationEnd& end) {
  usage_.add(end.end.timings, 0);
  const std::string before = give_echo();
  json::object object = chunk(end.reply, {});
  json::object& choice = object["choices"].as_array().front().as_object();
  for (auto& [key, value] : ending_of(end)) choice[key] = std::move(value);
  return before + event_of(object);
}

std::string CompletionChunks::usage() const {
  if (!include_usage_) return {};
  json::object object = head_json(model_, head_);
  object["choices"] = json::array();
  object["usage"] = usage_json(usage_);
  return event_of(object);
}

}  // namespace lockstep::openai
