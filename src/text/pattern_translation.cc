#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "text/pattern_splitter.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

constexpr size_t kMaxPatternBytes = 4096;

// Properties that both engines know under one name.
constexpr std::string_view kProperties[] = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn",  "Mc",       "Me",       "N",     "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",  "Po",       "S",        "Sm",    "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "Cc", "Cf", "Han", "Hiragana", "Katakana", "Hangul"};

// Letters that fold to one character together ("ss" to sharp s) where Oniguruma ignores case.
constexpr std::string_view kFoldingPairs[] = {"ss", "ff", "fi", "fl", "st"};

// The members of \s, or all others, as they are written within [ ].
std::string space_members(bool space) {
  std::string members;
  uint32_t next = 0;
  const auto add = [&](uint32_t first, uint32_t last) {
    if (first <= last) members += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", first, last);
  };
  for (const ClassRange& range : class_ranges()) {
    if ((range.classes & kSpace) == 0) continue;
    if (space) {
      add(range.first, range.last);
    } else if (range.first > 0) {
      add(next, range.first - 1);
    }
    next = range.last + 1;
  }
  if (!space) add(next, kMaxCodePoint);
  return members;
}

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  // False if the rest, as it then stands, begins with something that is not translated.
  bool run() {
    while (!rest_.empty()) {
      if (!step()) return false;
    }
    return true;
  }

  std::string_view rest() const { return rest_; }
  std::string take_result() { return std::move(result_); }

 private:
  bool ignores_case() const { return !groups_.empty() && groups_.back(); }

  bool copy(size_t count) {
    result_ += rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }

  bool step() {
    switch (rest_[0]) {
      case '\\':
        return escape(/*in_class=*/false);
      case '[':
        return character_class();
      case '(':
        return open_group();
      case ')':
        if (!groups_.empty()) groups_.pop_back();
        return copy(1);
      case '{':
        return interval();
      case '^':
      case '$':
      case '.':
        return false;  // lines mean other things to each engine
      default:
        return literal();
    }
  }

  bool literal() {
    if (ignores_case() && rest_.size() > 1) {
      const std::string pair = {static_cast<char>(rest_[0] | 0x20),
                                static_cast<char>(rest_[1] | 0x20)};
      if (std::count(std::begin(kFoldingPairs), std::end(kFoldingPairs), pair) != 0) return false;
    }
    return copy(1);
  }

  bool escape(bool in_class) {
    const char name = rest_.size() > 1 ? rest_[1] : '\0';
    switch (name) {
      case 'r':
      case 'n':
      case 't':
      case 'f':
        return copy(2);
      case 's':
      case 'S': {
        if (ignores_case()) return false;
        const std::string members = space_members(name == 's');
        result_ += in_class ? members : "[" + members + "]";
        rest_.remove_prefix(2);
        return true;
      }
      case 'd':
        if (ignores_case()) return false;
        result_ += "\\p{Nd}";
        rest_.remove_prefix(2);
        return true;
      case 'p':
      case 'P':
        return property();
      default: {
        const bool punctuation =
            name > ' ' && name < 0x7F && !is_ascii_letter(name) && !is_ascii_digit(name);
        return punctuation && copy(2);
      }
    }
  }

  // \p{..} within (?i: would be widened by one engine and not by the other.
  bool property() {
    const size_t end = rest_.find('}');
    if (ignores_case() || rest_.size() < 3 || rest_[2] != '{' || end == rest_.npos) return false;
    const std::string_view name = rest_.substr(3, end - 3);
    return std::count(std::begin(kProperties), std::end(kProperties), name) != 0 && copy(end + 1);
  }

  bool character_class() {
    if (ignores_case()) return false;
    copy(1);
    if (rest_.starts_with('^')) copy(1);
    for (bool empty = true; !rest_.empty(); empty = false) {
      if (rest_[0] == ']') return !empty && copy(1);
      // Classes within classes, and intersections of classes.
      if (rest_[0] == '[' || rest_.starts_with("&&")) return false;
      if (rest_[0] == '\\' ? !escape(/*in_class=*/true) : !copy(1)) return false;
    }
    return false;
  }

  bool open_group() {
    bool ignore_case = ignores_case();
    size_t length = 1;
    if (rest_.starts_with("(?")) {
      length = 0;
      for (const std::string_view start : {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
        if (rest_.starts_with(start)) length = start.size();
      }
      if (length == 0) return false;
      ignore_case |= rest_.starts_with("(?i:");
    } else if (rest_.starts_with("(*")) {
      return false;
    }
    groups_.push_back(ignore_case);
    return copy(length);
  }

  // {n}, {n,} and {n,m}, without a sign after it: {..}+ and {..}? have other meanings there.
  bool interval() {
    size_t at = 1;
    const auto digits = [&] {
      const size_t start = at;
      while (at < rest_.size() && is_ascii_digit(rest_[at])) ++at;
      return at > start;
    };
    if (!digits()) return false;
    if (at < rest_.size() && rest_[at] == ',') {
      ++at;
      digits();
    }
    if (at >= rest_.size() || rest_[at] != '}') return false;
    ++at;
    const char after = at < rest_.size() ? rest_[at] : '\0';
    return after != '+' && after != '?' && copy(at);
  }

  std::string_view rest_;
  std::string result_;
  std::vector<bool> groups_;  // of each open one, whether it ignores case
};

}  // namespace

Result<std::string> translate_pattern(std::string_view pattern) {
  if (pattern.empty() || pattern.size() > kMaxPatternBytes) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("a word pattern of {} bytes is not supported; 1 to {} are",
                             pattern.size(), kMaxPatternBytes)};
  }
  Translator translator(pattern);
  if (translator.run()) return translator.take_result();
  return Error{ErrorCode::kUnsupported,
               fmt::format("the word pattern uses what is not supported, at byte {}: {}",
                           pattern.size() - translator.rest().size(),
                           replace_invalid_utf8(translator.rest().substr(0, 40)))};
}

}  // namespace lockstep
