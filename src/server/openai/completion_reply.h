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

  // The first token of a prompt, which nothing stands before.
  void add_first(const Tokenizer& tokenizer, int32_t id);
  // `offset`: bytes of the text before the token.
  void add(const Tokenizer& tokenizer, const Logprobs& logprobs, size_t offset);
  json::object take();
};

class CompletionReply {
 public:
  CompletionReply(const ServedModel& model, const CompletionCall& call, ReplyHead head);

  void add_prompt(const PromptToken& token);
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
  size_t prompt_bytes_ = 0;  // of the prompt's tokens so far
  std::vector<Choice> choices_;
  Usage usage_;
};

class CompletionChunks {
 public:
  CompletionChunks(const ServedModel& model, const CompletionCall& call, ReplyHead head);

  std::string begin();
  void add_prompt(const PromptToken& token);
  std::string step(const GenerationStep& step);
  std::string end(const GenerationEnd& end);
  std::string usage() const;

 private:
  json::object chunk(int64_t index, const std::string& text) const;
  std::string give_echo();

  const ServedModel& model_;
  ReplyHead head_;
  std::string echo_;     // what of it has not been given yet
  TokenLists prompt_;    // of the prompt, where it is scored
  size_t prompt_bytes_;  // of the tokens in these
  bool scored_;
  bool tokens_;
  bool include_usage_;
  std::vector<size_t> shown_;  // bytes of each reply so far
  Usage usage_;
};

}  // namespace lockstep::openai
