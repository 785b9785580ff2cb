#include "text/vocabulary.h"

#include <algorithm>

#include "text/byte_alphabet.h"
#include "text/nfc.h"

namespace lockstep {

std::string added_token_text(const AddedToken& token, bool nfc) {
  std::string storage;
  return std::string(nfc && token.normalized ? normalize_nfc(token.content, storage)
                                             : std::string_view(token.content));
}

Vocabulary::Vocabulary(const TokenizerFile& file) {
  std::unordered_map<int32_t, std::string> added_texts;
  size_t size = file.pieces.size();
  for (const AddedToken& token : file.added_tokens) {
    size = std::max(size, static_cast<size_t>(token.id) + 1);
    added_texts.emplace(token.id, added_token_text(token, file.nfc));
    added_.emplace(token.content, token.id);
  }
  flags_.resize(size);
  for (const AddedToken& token : file.added_tokens) {
    flags_[token.id] = static_cast<uint8_t>(kAdded | (token.special ? kSpecial : 0));
  }

  std::vector<bool> is_entry(size);
  ends_.reserve(size);
  for (size_t id = 0; id < size; ++id) {
    const auto added = added_texts.find(static_cast<int32_t>(id));
    const bool has_piece = id < file.pieces.size() && !file.pieces[id].empty();
    if (has_piece || added != added_texts.end()) {
      const std::string& text = added != added_texts.end() ? added->second : file.pieces[id];
      // As the reference decodes: a text that is not of the alphabet stands for itself, and one
      // that is stands for its bytes even in an added token.
      const std::optional<std::string> bytes = bytes_of_piece(text);
      const std::string& stored = bytes ? *bytes : text;
      bytes_.insert(bytes_.end(), stored.begin(), stored.end());
      is_entry[id] = has_piece && bytes.has_value();
    }
    ends_.push_back(bytes_.size());
  }
  entries_.reserve(file.pieces.size());
  for (size_t id = 0; id < size; ++id) {
    if (is_entry[id]) {
      const auto token = static_cast<int32_t>(id);
      entries_.emplace(this->bytes(token), token);
    }
  }
}

std::string_view Vocabulary::bytes(int32_t id) const {
  if (id < 0 || id >= size()) return {};
  const size_t start = id == 0 ? 0 : ends_[id - 1];
  return {bytes_.data() + start, ends_[id] - start};
}

std::optional<int32_t> Vocabulary::find_entry(std::string_view bytes) const {
  const auto entry = entries_.find(bytes);
  return entry == entries_.end() ? std::nullopt : std::optional(entry->second);
}

std::optional<int32_t> Vocabulary::find(std::string_view bytes) const {
  const auto token = added_.find(std::string(bytes));
  return token == added_.end() ? find_entry(bytes) : std::optional(token->second);
}

}  // namespace lockstep
