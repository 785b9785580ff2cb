// Text from tokens as they come.
#pragma once

#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace lockstep {

// Holds back the bytes of a character until it is whole, so that the parts, put together, are what
// Tokenizer::decode gives for all the ids at once.
class Detokenizer {
 public:
  // `tokenizer` must outlive this object.
  explicit Detokenizer(const Tokenizer& tokenizer, bool skip_special = false)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  // The text that this token completes; often empty within a character of several tokens.
  std::string push(int32_t id);

  // What is still held back, as U+FFFD. Afterwards the object can be used for another text.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::string held_back_;  // the start of a character, at most three bytes
};

}  // namespace lockstep
