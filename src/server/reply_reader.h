// From the tokens of one reply to typed pieces of text, cut off at a stop string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/detokenizer.h"
#include "text/reply/reply_parser.h"
#include "text/reply/stop_strings.h"

namespace lockstep {

struct ReplyReaderOptions {
  bool plain = false;  // all is content: no thinking and no calls are told apart
  bool begins_in_thinking = false;
  ToolSignatures tools = {};            // that the reply may call
  bool one_call = false;                // the reply ends with its first call
  std::vector<std::string> stops = {};  // bind in content alone
};

class ReplyReader {
 public:
  // `tokenizer` outlives this object.
  ReplyReader(const Tokenizer& tokenizer, const ReplyReaderOptions& options);

  // Appends what the token makes certain. After ended() there is nothing more.
  void push(int32_t id, std::vector<TextEvent>& events);
  // Appends the rest. `whole`: the model ended the reply itself.
  void finish(bool whole, std::vector<TextEvent>& events);

  // True once a stop string, or the only call that is wanted, is complete.
  bool ended() const { return stops_.hit().has_value() || (one_call_ && calls_ > 0); }
  const std::optional<std::string>& stop() const { return stops_.hit(); }
  int64_t calls() const { return calls_; }  // that are complete
  int64_t thinking_tokens() const { return thinking_tokens_; }

 private:
  void take(const std::string& text, std::vector<TextEvent>& events);
  void sift(std::vector<TextEvent>& parsed, std::vector<TextEvent>& events);

  bool plain_;
  bool one_call_;
  Detokenizer detokenizer_;
  ReplyParser parser_;
  StopStrings stops_;
  int64_t calls_ = 0;
  int64_t thinking_tokens_ = 0;
};

}  // namespace lockstep
