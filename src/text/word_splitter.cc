#include "text/word_splitter.h"

#include <array>
#include <cstdint>

#include "text/code_point_map.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

enum Kind : uint8_t { kOther = 0, kWordPart = 1, kDigit = 2, kBlank = 3, kNewline = 4 };

constexpr Kind kind_of_classes(uint8_t classes) {
  if ((classes & (kLetter | kMark)) != 0) return kWordPart;
  if ((classes & kNumber) != 0) return kDigit;
  return (classes & kSpace) != 0 ? kBlank : kOther;
}

constexpr std::array<Kind, 128> kAsciiKinds = [] {
  std::array<Kind, 128> kinds{};
  for (int c = 'a'; c <= 'z'; ++c) kinds[c] = kinds[c - 'a' + 'A'] = kWordPart;
  for (int c = '0'; c <= '9'; ++c) kinds[c] = kDigit;
  for (int c : {'\t', '\v', '\f', ' '}) kinds[c] = kBlank;
  for (int c : {'\r', '\n'}) kinds[c] = kNewline;
  return kinds;
}();

// Length of the contraction that follows an apostrophe at `at`: one of s t re ve m ll d in either
// case, or the long s (U+017F), which folds to s. 0 if there is none.
size_t contraction_length(const char* at, const char* end) {
  if (at == end) return 0;
  const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  const char first = lower(at[0]);
  switch (at[0] & 0x80 ? '\0' : first) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 1;
    case 'r':
    case 'v':
      return end - at > 1 && lower(at[1]) == 'e' ? 2 : 0;
    case 'l':
      return end - at > 1 && lower(at[1]) == 'l' ? 2 : 0;
    default:
      return end - at > 1 && at[0] == '\xC5' && at[1] == '\xBF' ? 2 : 0;
  }
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : end_(text.data() + text.size()) {}

  // End of the word that starts at `at`; the alternatives of the pattern, in its order.
  const char* word_end(const char* at) const {
    const char* after = at;
    const Kind first = next_kind(after);
    if (first == kWordPart) return run_end(after, kWordPart);
    if (first == kDigit) return after;
    if (first == kOther && *at == '\'') {
      if (const size_t length = contraction_length(after, end_)) return after + length;
    }
    if (first == kOther || first == kBlank) {
      const char* second = after;
      const Kind second_kind = second == end_ ? kNewline : next_kind(second);
      if (second_kind == kWordPart) return run_end(second, kWordPart);
      if (first == kOther) return run_end(run_end(after, kOther), kNewline);
      if (*at == ' ' && second_kind == kOther) return run_end(run_end(second, kOther), kNewline);
    }
    return space_end(at);
  }

 private:
  Kind next_kind(const char*& at) const {
    const uint8_t byte = static_cast<uint8_t>(*at);
    if (byte < 0x80) {
      ++at;
      return kAsciiKinds[byte];
    }
    return kind_of_classes(classes_[next_code_point(at)]);
  }

  const char* run_end(const char* at, Kind kind) const {
    while (at != end_) {
      const char* next = at;
      if (next_kind(next) != kind) break;
      at = next;
    }
    return at;
  }

  // White space: up to its last newline; without one, all but the character before a word, which
  // takes that one along, but never nothing.
  const char* space_end(const char* start) const {
    const char* after_newline = nullptr;
    const char* last = start;
    const char* at = start;
    while (at != end_) {
      const char* next = at;
      const Kind kind = next_kind(next);
      if (kind != kBlank && kind != kNewline) break;
      if (kind == kNewline) after_newline = next;
      last = at;
      at = next;
    }
    if (after_newline != nullptr) return after_newline;
    return at == end_ || last == start ? at : last;
  }

  const CodePointMap& classes_ = code_point_classes();
  const char* end_;
};

}  // namespace

void split_words(std::string_view text, std::vector<size_t>& ends) {
  const Splitter splitter(text);
  for (const char* at = text.data(); at != text.data() + text.size();) {
    at = splitter.word_end(at);
    ends.push_back(static_cast<size_t>(at - text.data()));
  }
}

}  // namespace lockstep
