// Added tokens: fixed texts that are cut out before the vocabulary sees the rest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// As in tokenizer.json.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool special = false;      // control, not text: left out by decode on demand
  bool normalized = false;   // looked for in the normalised text, by its normalised content
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and after it
  bool single_word = false;  // only between characters that are not \w
};

// Finds the leftmost, then longest, of a set of tokens.
class AddedTokenMatcher {
 public:
  // A part of a text: one added token, or what stands between two.
  struct Piece {
    int32_t id = kText;
    std::string_view text;
  };
  static constexpr int32_t kText = -1;

  // `tokens` pairs each token with the text that it is found by; these are not empty, and distinct.
  AddedTokenMatcher() = default;
  explicit AddedTokenMatcher(std::vector<std::pair<std::string, AddedToken>> tokens);

  bool empty() const { return patterns_.empty(); }

  // Cuts `text`, valid UTF-8, into pieces, none empty. Special tokens stay text if `keep_special`.
  void split(std::string_view text, bool keep_special, std::vector<Piece>& pieces) const;

 private:
  struct Pattern {
    std::string text;
    AddedToken token;
  };
  struct Match {
    size_t start = 0;
    size_t end = 0;
    const AddedToken* token = nullptr;  // none: no match before the end
  };

  Match find(std::string_view text, size_t from) const;
  const Pattern* longest_at(std::string_view text) const;

  std::vector<Pattern> patterns_;                                   // sorted by text
  std::array<std::pair<uint32_t, uint32_t>, 256> by_first_byte_{};  // range of patterns_
};

}  // namespace lockstep
