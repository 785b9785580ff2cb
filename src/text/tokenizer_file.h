// What a tokenizer.json says, checked: byte-level BPE in the form that the family uses. Whatever
// else would change ids is refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/added_tokens.h"
#include "text/merge_table.h"

namespace lockstep {

struct TokenizerFile {
  // Vocabulary pieces by id, in the printable alphabet; empty where no piece has the id.
  std::vector<std::string> pieces;
  std::vector<Merge> merges;   // by rank
  bool ignore_merges = false;  // a word that is a piece is one token, whatever the merges say
  std::vector<AddedToken> added_tokens;  // ids and contents are distinct, contents valid UTF-8
  bool nfc = false;
  std::string pattern;  // of the words that merges stay within
};

// `name` is put before every message.
Result<TokenizerFile> parse_tokenizer_file(std::string_view text, std::string_view name);

}  // namespace lockstep
