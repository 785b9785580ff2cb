#include "apps/run_json.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "server/timings.h"

namespace lockstep {
namespace {

json::object entry_json(const Tokenizer& tokenizer, const TokenLogprob& entry) {
  return {
      {"id", entry.id}, {"token", tokenizer.decode({&entry.id, 1})}, {"logprob", entry.logprob}};
}

json::object logprobs_json(const Tokenizer& tokenizer, const Logprobs& logprobs) {
  json::object item = entry_json(tokenizer, logprobs.chosen);
  json::array top;
  for (const TokenLogprob& entry : logprobs.top) top.push_back(entry_json(tokenizer, entry));
  item["top"] = std::move(top);
  return item;
}

json::array logprobs_json(const Tokenizer& tokenizer, const Reply& reply) {
  json::array list;
  for (const ReplyToken& token : reply.tokens) {
    if (token.logprobs) list.push_back(logprobs_json(tokenizer, *token.logprobs));
  }
  return list;
}

// From the prompt's second token on: the first one has nothing before it.
json::array prompt_logprobs_json(const Tokenizer& tokenizer, const Reply& reply) {
  json::array list;
  for (const PromptToken& token : reply.prompt) {
    list.push_back(logprobs_json(tokenizer, token.logprobs));
  }
  return list;
}

json::object sampling_json(const SamplingSettings& settings) {
  json::object biases;
  for (const LogitBias& entry : settings.logit_bias) biases[std::to_string(entry.id)] = entry.bias;
  return {
      {"temperature", settings.temperature},
      {"top_k", settings.top_k},
      {"top_p", settings.top_p},
      {"min_p", settings.min_p},
      {"repetition_penalty", settings.repetition_penalty},
      {"presence_penalty", settings.presence_penalty},
      {"frequency_penalty", settings.frequency_penalty},
      {"penalty_window", settings.penalty_window},
      {"logit_bias", std::move(biases)},
      {"banned_tokens", json::array(settings.banned_tokens.begin(), settings.banned_tokens.end())},
      {"allowed_tokens",
       json::array(settings.allowed_tokens.begin(), settings.allowed_tokens.end())}};
}

}  // namespace

json::object reply_json(const Engine& engine, const FinishedReply& finished) {
  const Reply& reply = finished.reply;
  json::array ids;
  for (const ReplyToken& token : reply.tokens) ids.push_back(token.id);
  json::object root = {{"text", finished.text},
                       {"thinking", finished.parts.thinking},
                       {"answer", finished.parts.answer},
                       {"ids", std::move(ids)},
                       {"finish_reason", to_string(reply.end.finish)},
                       {"stop_id", nullptr},
                       {"seed", *reply.sampling.seed},
                       {"sampling", sampling_json(reply.sampling)},
                       {"timings", timings_json(reply.end.timings)}};
  if (reply.end.stop_id) root["stop_id"] = *reply.end.stop_id;
  const bool asked = !reply.tokens.empty() && reply.tokens.front().logprobs;
  if (asked) root["logprobs"] = logprobs_json(engine.tokenizer, reply);
  if (!reply.prompt.empty()) {
    root["prompt_logprobs"] = prompt_logprobs_json(engine.tokenizer, reply);
  }
  return root;
}

std::string run_json(const Engine& engine, const FinishedReply& finished) {
  json::object root = {{"model", engine.model.checkpoint().path.filename().string()}};
  for (auto& [key, value] : reply_json(engine, finished)) root[key] = value;
  root["precision_tuple"] = engine.model.precision_tuple();
  root["threads"] = engine.pool.threads();
  root["isa"] = to_string(engine.isa);
  root["context"] = engine.setup.context;
  return dump_json(root) + "\n";
}

}  // namespace lockstep
