#include "text/added_tokens.h"

#include <algorithm>

#include "text/code_point_map.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

bool has_class(const char* character, CodePointClass wanted) {
  return (code_point_classes()[next_code_point(character)] & wanted) != 0;
}

// Start of the character that ends before `offset`, which is not 0.
size_t previous_character(std::string_view text, size_t offset) {
  do {
    --offset;
  } while ((static_cast<uint8_t>(text[offset]) & 0xC0u) == 0x80u);
  return offset;
}

bool stands_alone(std::string_view text, size_t start, size_t end) {
  if (start > 0 && has_class(text.data() + previous_character(text, start), kWord)) return false;
  return end == text.size() || !has_class(text.data() + end, kWord);
}

// Offset of the white space that ends at `start`, not before `limit`.
size_t space_before(std::string_view text, size_t start, size_t limit) {
  while (start > limit) {
    const size_t previous = previous_character(text, start);
    if (!has_class(text.data() + previous, kSpace)) break;
    start = previous;
  }
  return start;
}

size_t space_after(std::string_view text, size_t end) {
  while (end < text.size()) {
    const char* at = text.data() + end;
    if (!has_class(at, kSpace)) break;
    next_code_point(at);
    end = static_cast<size_t>(at - text.data());
  }
  return end;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<std::pair<std::string, AddedToken>> tokens) {
  std::sort(tokens.begin(), tokens.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [text, token] : tokens) {
    const auto index = static_cast<uint32_t>(patterns_.size());
    auto& range = by_first_byte_[static_cast<uint8_t>(text[0])];
    if (range.second == 0) range.first = index;
    range.second = index + 1;
    patterns_.push_back({std::move(text), std::move(token)});
  }
}

// The longest pattern that `text` starts with. Patterns that share its first `length` bytes are
// neighbours, shortest first, so that each further byte narrows one range.
const AddedTokenMatcher::Pattern* AddedTokenMatcher::longest_at(std::string_view text) const {
  auto [first, last] = by_first_byte_[static_cast<uint8_t>(text[0])];
  const Pattern* longest = nullptr;
  for (size_t length = 1; first < last; ++length) {
    if (patterns_[first].text.size() == length) longest = &patterns_[first++];
    if (length == text.size()) break;
    const auto wanted = static_cast<uint8_t>(text[length]);
    const auto byte_of = [length](const Pattern& pattern) {
      return static_cast<uint8_t>(pattern.text[length]);
    };
    const auto begin = patterns_.begin();
    const auto low = std::partition_point(begin + first, begin + last,
                                          [&](const Pattern& p) { return byte_of(p) < wanted; });
    const auto high = std::partition_point(low, begin + last,
                                           [&](const Pattern& p) { return byte_of(p) == wanted; });
    first = static_cast<uint32_t>(low - begin);
    last = static_cast<uint32_t>(high - begin);
  }
  return longest;
}

AddedTokenMatcher::Match AddedTokenMatcher::find(std::string_view text, size_t from) const {
  for (size_t start = from; start < text.size(); ++start) {
    if (by_first_byte_[static_cast<uint8_t>(text[start])].second == 0) continue;
    if (const Pattern* pattern = longest_at(text.substr(start))) {
      return {start, start + pattern->text.size(), &pattern->token};
    }
  }
  return {};
}

void AddedTokenMatcher::split(std::string_view text, bool keep_special,
                              std::vector<Piece>& pieces) const {
  size_t done = 0;  // all before is in `pieces`
  Match match;
  for (size_t from = 0; (match = find(text, from)).token != nullptr; from = match.end) {
    const AddedToken& token = *match.token;
    if (keep_special && token.special) continue;
    if (token.single_word && !stands_alone(text, match.start, match.end)) continue;
    // The search goes on behind the match itself, not behind the space that it takes along; a token
    // of white space may then begin before `done`, and the reference lets it.
    const size_t start = token.lstrip ? space_before(text, match.start, done) : match.start;
    const size_t end = token.rstrip ? space_after(text, match.end) : match.end;
    if (done < start) pieces.push_back({kText, text.substr(done, start - done)});
    pieces.push_back({token.id, text.substr(match.start, match.end - match.start)});
    done = end;
  }
  if (done != text.size()) pieces.push_back({kText, text.substr(done)});
}

}  // namespace lockstep
