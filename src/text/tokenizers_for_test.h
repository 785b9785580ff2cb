// Tokenizers that tests share: the embedded one, and a small file to alter.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "text/word_splitter.h"

namespace lockstep {

inline const Tokenizer& embedded_tokenizer() {
  static const Result<Tokenizer> tokenizer =
      load_tokenizer(LOCKSTEP_SOURCE_DIR "/models/tiny-dense-mlx-4bit/tokenizer.json");
  return tokenizer.value();
}

// Ids 0 to 255 are the bytes, 256 "ab", 257 "abc", 258 " a"; "a b" merges before "ab c" and "Ġ a".
// There are no added tokens.
inline json::object small_tokenizer() {
  json::object vocab;
  for (uint32_t character = 33; vocab.size() < 256; ++character) {
    std::string piece;
    append_utf8(character, piece);
    const std::optional<std::string> bytes = bytes_of_piece(piece);
    if (bytes) vocab[piece] = static_cast<uint8_t>((*bytes)[0]);
  }
  vocab["ab"] = 256;
  vocab["abc"] = 257;
  vocab["\u0120a"] = 258;
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", json::array()},
      {"normalizer", json::object{{"type", "NFC"}}},
      {"pre_tokenizer",
       json::object{{"type", "Sequence"},
                    {"pretokenizers",
                     json::array{json::object{{"type", "Split"},
                                              {"pattern", json::object{{"Regex", kFamilyPattern}}},
                                              {"behavior", "Isolated"},
                                              {"invert", false}},
                                 json::object{{"type", "ByteLevel"},
                                              {"add_prefix_space", false},
                                              {"trim_offsets", true},
                                              {"use_regex", false}}}}}},
      {"post_processor", nullptr},
      {"decoder", json::object{{"type", "ByteLevel"}}},
      {"model", json::object{{"type", "BPE"},
                             {"ignore_merges", false},
                             {"vocab", std::move(vocab)},
                             {"merges", json::array{"a b", json::array{"ab", "c"}, "\u0120 a"}}}},
  };
}

struct AddedFlags {
  bool special = false;
  bool normalized = false;
  bool lstrip = false;
  bool rstrip = false;
  bool single_word = false;
};

inline json::object added_token(int id, std::string_view content, AddedFlags flags = {}) {
  return {{"id", id},
          {"content", content},
          {"special", flags.special},
          {"normalized", flags.normalized},
          {"lstrip", flags.lstrip},
          {"rstrip", flags.rstrip},
          {"single_word", flags.single_word}};
}

}  // namespace lockstep
