// Answers of POST /v1/chat/completions, whole and as a stream, from the same events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "server/generation.h"
#include "server/openai/chat_call.h"
#include "server/openai/wire.h"
#include "server/served_model.h"

namespace lockstep::openai {

enum class ReasoningField : uint8_t { kBoth, kReasoningContent, kReasoning };

struct ReplyHead {
  std::string id;
  std::int64_t created = 0;
  std::uint64_t seed = 0;
  ReasoningField reasoning = ReasoningField::kBoth;
};

// "tool_calls" where the model called, else as the engine says.
std::string chat_finish_reason(const GenerationEnd& end);

class ChatReply {
 public:
  ChatReply(const ServedModel& model, const ChatCall& call, ReplyHead head);

  void add_prompt(const PromptToken&) {}  // the dialect has no place for it
  void add(const GenerationStep& step);
  void end(const GenerationEnd& end);
  // The whole answer, once all replies have ended.
  json::object take();

 private:
  struct Choice {
    std::string content;
    std::string thinking;
    json::array calls;
    std::string arguments;  // of the last call
    json::array logprobs;
    json::array ids;
    json::object rest;
  };
  json::object choice_json(Choice& choice, int64_t index) const;

  const ServedModel& model_;
  ReplyHead head_;
  bool logprobs_;
  bool tokens_;
  std::vector<Choice> choices_;
  Usage usage_;
};

class ChatChunks {
 public:
  ChatChunks(const ServedModel& model, const ChatCall& call, ReplyHead head);

  // What each says, as events of a stream.
  std::string begin();
  void add_prompt(const PromptToken&) {}
  std::string step(const GenerationStep& step);
  std::string end(const GenerationEnd& end);
  std::string usage() const;

 private:
  json::object chunk(int64_t index, json::object delta) const;
  json::object delta_of(const TextEvent& event, int64_t& calls) const;

  const ServedModel& model_;
  ReplyHead head_;
  bool logprobs_;
  bool tokens_;
  bool include_usage_;
  std::vector<int64_t> calls_;  // of each reply so far
  Usage usage_;
};

}  // namespace lockstep::openai
