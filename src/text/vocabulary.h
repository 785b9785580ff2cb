// The tokens that a tokenizer knows: the bytes each stands for, and the way back.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer_file.h"

namespace lockstep {

class Vocabulary {
 public:
  explicit Vocabulary(const TokenizerFile& file);
  Vocabulary(const Vocabulary&) = delete;  // the maps hold views of bytes_
  Vocabulary& operator=(const Vocabulary&) = delete;

  // Highest id + 1.
  int32_t size() const { return static_cast<int32_t>(ends_.size()); }

  // Empty if no token has the id.
  std::string_view bytes(int32_t id) const;

  // The vocabulary entry that stands for these bytes; added tokens are not looked at.
  std::optional<int32_t> find_entry(std::string_view bytes) const;

  // An added token by its content, or else a vocabulary entry.
  std::optional<int32_t> find(std::string_view bytes) const;

  bool is_added(int32_t id) const { return (flags(id) & kAdded) != 0; }
  bool is_special(int32_t id) const { return (flags(id) & kSpecial) != 0; }

 private:
  enum Flag : uint8_t { kAdded = 1, kSpecial = 2 };

  uint8_t flags(int32_t id) const { return id >= 0 && id < size() ? flags_[id] : 0; }

  std::vector<char> bytes_;  // of all tokens, end to end
  std::vector<size_t> ends_;
  std::vector<uint8_t> flags_;
  boost::unordered_flat_map<std::string_view, int32_t> entries_;
  std::unordered_map<std::string, int32_t> added_;
};

// The text by which an added token is found: normalised if it is looked for in normalised text.
std::string added_token_text(const AddedToken& token, bool nfc);

}  // namespace lockstep
