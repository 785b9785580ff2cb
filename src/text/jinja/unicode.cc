#include "text/jinja/unicode.h"

#include <algorithm>
#include <iterator>

namespace lockstep::jinja {
namespace {

struct CodeRange {
  uint32_t first, last;
};
// Every stride-th code point of first..last maps to itself plus the difference.
struct CaseRun {
  uint32_t first, last;
  uint32_t stride;
  int32_t difference;
};
struct CaseExpansion {
  uint32_t code;
  const char* utf8;
};

#include "text/jinja/unicode_tables.inc"

template <size_t N>
bool contains(const CodeRange (&ranges)[N], char32_t code) {
  const auto* range =
      std::upper_bound(std::begin(ranges), std::end(ranges), code,
                       [](char32_t value, const CodeRange& r) { return value < r.first; });
  return range != std::begin(ranges) && code <= std::prev(range)->last;
}

template <size_t N, size_t M>
void append_mapped(const CaseRun (&runs)[N], const CaseExpansion (&expansions)[M], char32_t code,
                   std::string& out) {
  const auto* special =
      std::lower_bound(std::begin(expansions), std::end(expansions), code,
                       [](const CaseExpansion& e, char32_t value) { return e.code < value; });
  if (special != std::end(expansions) && special->code == code) {
    out += special->utf8;
    return;
  }
  // Runs of stride 2 interleave, so several may start at or before the code point.
  const auto* run =
      std::upper_bound(std::begin(runs), std::end(runs), code,
                       [](char32_t value, const CaseRun& r) { return value < r.first; });
  for (int back = 0; back < 3 && run != std::begin(runs); ++back) {
    --run;
    if (code <= run->last && (code - run->first) % run->stride == 0) {
      append_utf8(static_cast<char32_t>(static_cast<int32_t>(code) + run->difference), out);
      return;
    }
  }
  append_utf8(code, out);
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

constexpr char32_t kCapitalSigma = 0x3A3;

// A capital sigma at the end of a word becomes the final form.
bool is_final_sigma(std::string_view text, size_t start, size_t end) {
  const bool letter_before = start > 0 && is_alphabetic(previous_code_point(text, start));
  const bool letter_after = end < text.size() && is_alphabetic(next_code_point(text, end));
  return letter_before && !letter_after;
}

}  // namespace

char32_t next_code_point(std::string_view text, size_t& position) {
  const char* at = text.data() + position;
  const uint32_t code = lockstep::next_code_point(at);
  position = static_cast<size_t>(at - text.data());
  return code;
}

char32_t previous_code_point(std::string_view text, size_t& position) {
  do {
    --position;
  } while (position > 0 && is_continuation(text[position]));
  size_t start = position;
  return next_code_point(text, start);
}

size_t count_code_points(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0 : 1;
  return count;
}

size_t byte_position(std::string_view text, size_t index) {
  size_t position = 0;
  for (; position < text.size(); ++position) {
    if (is_continuation(text[position])) continue;
    if (index == 0) break;
    --index;
  }
  return position;
}

bool is_space(char32_t code) {
  if (code < 0x80) return (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x20);
  return contains(kSpace, code);
}
bool is_printable(char32_t code) { return !contains(kUnprintable, code); }
bool is_alphabetic(char32_t code) { return contains(kAlphabetic, code); }
bool is_decimal(char32_t code) { return contains(kDecimal, code); }
bool is_digit(char32_t code) { return contains(kDigit, code); }
bool is_numeric(char32_t code) { return contains(kNumeric, code); }
bool is_upper(char32_t code) { return contains(kUpper, code); }
bool is_lower(char32_t code) { return contains(kLower, code); }
bool is_title(char32_t code) { return contains(kTitle, code); }

std::string to_upper(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char32_t code = next_code_point(text, i);
    if (code < 0x80) {
      out += static_cast<char>(code >= 'a' && code <= 'z' ? code - 32 : code);
    } else {
      append_mapped(kToUpper, kUpperExpansions, code, out);
    }
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const char32_t code = next_code_point(text, i);
    if (code < 0x80) {
      out += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code);
    } else if (code == kCapitalSigma && is_final_sigma(text, start, i)) {
      append_utf8(0x3C2, out);
    } else {
      append_mapped(kToLower, kLowerExpansions, code, out);
    }
  }
  return out;
}

void append_title(char32_t code, std::string& out) {
  append_mapped(kToTitle, kTitleExpansions, code, out);
}

std::string_view strip_left(std::string_view text) {
  size_t start = 0;
  while (start < text.size()) {
    size_t next = start;
    if (!is_space(next_code_point(text, next))) break;
    start = next;
  }
  return text.substr(start);
}

std::string_view strip_right(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    size_t previous = end;
    if (!is_space(previous_code_point(text, previous))) break;
    end = previous;
  }
  return text.substr(0, end);
}

}  // namespace lockstep::jinja
