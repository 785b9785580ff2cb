// Answers of POST /v1/completions, whole and as a stream, from the same events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "server/generation.h"
#include "server/openai/chat_reply.h"
#include "server/openai/completion_call.h"
#include "server/openai/wire.h"
#include "server/served_model.h"

namespace lockstep::openai {

// The dialect's four lists about the tokens of a reply.
struct TokenLists {
  json::array tokens;
  json::array token_logprobs;
  json::array top_logprobs;
  json::array text_offset;

  // `offset`: bytes of the reply's text before the token.
  void add(const Tokenizer& tokenizer, const Logprobs& logprobs, size_t offset);
  json::object take();
};

class CompletionReply {
 public:
  CompletionReply(const ServedModel& model, const CompletionCall& call, ReplyHead head);

  void add(const GenerationStep& step);
  void end(const GenerationEnd& end);
  json::object take();

 private:
  struct Choice {
    std::string text;
    TokenLists lists;
    json::array ids;
    json::object rest;
  };

  const ServedModel& model_;
  ReplyHead head_;
  bool logprobs_;
  bool tokens_;
  std::vector<Choice> choices_;
  Usage usage_;
};

class CompletionChunks {
 public:
  CompletionChunks(const ServedModel& model, const CompletionCall& call, ReplyHead head);

  std::string begin();
  std::string step(const GenerationStep& step);
  std::string end(const GenerationEnd& end);
  std::string usage() const;

 private:
  json::object chunk(int64_t index, const std::string& text) const;

  const ServedModel& model_;
  ReplyHead head_;
  std::string echo_;
  bool tokens_;
  bool include_usage_;
  std::vector<size_t> shown_;  // bytes of each reply so far
  Usage usage_;
};

}  // namespace lockstep::openai
