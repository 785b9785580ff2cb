// A tokenizer as GGUF files carry one: tokens and their types by id, and merges. Read and made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer_file.h"

namespace lockstep {

struct TokenList {
  std::string_view model;                    // must be "gpt2", byte-level BPE
  std::string_view pre;                      // must be "qwen35", the family's words
  std::span<const std::string_view> tokens;  // by id, in the printable alphabet or as added
  std::span<const int64_t> types;            // by id: 1 normal, 3 control, 4 added, 5 no token
  std::span<const std::string_view> merges;  // "a b", by rank
  bool add_bos = false;                      // must be false
};

// What the family's tokenizer.json says of the same vocabulary. One thing the types do not tell:
// llama.cpp's converter marks every added token of the form <|...|> as control, while the family
// has six (fill in the middle, repositories) that are not special; these are known by their texts.
// `name` is put before every message.
Result<TokenizerFile> read_token_list(const TokenList& list, std::string_view name);

// A TokenList that owns its texts.
struct TokenListTexts {
  std::vector<std::string> tokens;
  std::vector<int64_t> types;
  std::vector<std::string> merges;
};

// The way back: `rows` tokens, of which those that the tokenizer lacks are unused. What the form
// cannot say is refused: another pattern, no NFC, merges that are ignored, added tokens that take
// white space along.
Result<TokenListTexts> make_token_list(const TokenizerFile& file, int64_t rows,
                                       std::string_view name);

}  // namespace lockstep
