#include "text/jinja/text_tools.h"

#include <algorithm>

#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

template <typename Test>
bool all_of(std::string_view text, bool if_empty, const Test& test) {
  for (size_t i = 0; i < text.size();) {
    if (!test(next_code_point(text, i))) return false;
  }
  return !text.empty() || if_empty;
}

bool is_among(char32_t code, std::string_view set) {
  for (size_t i = 0; i < set.size();) {
    if (next_code_point(set, i) == code) return true;
  }
  return false;
}

// Some cased code point has the wanted case and none has another.
bool has_case(std::string_view text, bool (*wanted)(char32_t)) {
  bool found = false;
  for (size_t i = 0; i < text.size();) {
    const char32_t code = next_code_point(text, i);
    if (wanted(code)) {
      found = true;
    } else if (is_cased(code)) {
      return false;
    }
  }
  return found;
}

bool is_line_end(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

std::string repeated(std::string_view fill, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += fill;
  return out;
}

}  // namespace

std::string title_case(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const char32_t code = next_code_point(text, i);
    if (in_word) {
      out += to_lower(text.substr(start, i - start));
    } else {
      append_title(code, out);
    }
    in_word = is_cased(code);
  }
  return out;
}

std::string capitalized(std::string_view text) {
  std::string out;
  if (text.empty()) return out;
  size_t first = 0;
  append_title(next_code_point(text, first), out);
  return out + to_lower(text.substr(first));
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const char32_t code = next_code_point(text, i);
    const std::string_view part = text.substr(start, i - start);
    if (is_upper(code)) {
      out += to_lower(part);
    } else if (is_lower(code)) {
      out += to_upper(part);
    } else {
      out += part;
    }
  }
  return out;
}

std::string_view strip_characters(Runtime& runtime, std::string_view text, std::string_view set,
                                  bool left, bool right) {
  size_t start = 0;
  size_t end = text.size();
  while (left && start < end) {
    runtime.work(set.size());
    size_t next = start;
    if (!is_among(next_code_point(text, next), set)) break;
    start = next;
  }
  while (right && end > start) {
    runtime.work(set.size());
    size_t previous = end;
    if (!is_among(previous_code_point(text, previous), set)) break;
    end = previous;
  }
  return text.substr(start, end - start);
}

std::vector<std::string_view> split_on_space(std::string_view text, int64_t most, bool from_right) {
  std::vector<std::string_view> parts;
  text = from_right ? strip_right(text) : strip_left(text);
  while (!text.empty()) {
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) {
      parts.push_back(from_right ? strip_right(text) : strip_left(text));
      break;
    }
    size_t cut = from_right ? text.size() : 0;
    while (from_right ? cut > 0 : cut < text.size()) {
      size_t next = cut;
      if (is_space(from_right ? previous_code_point(text, next) : next_code_point(text, next))) {
        break;
      }
      cut = next;
    }
    parts.push_back(from_right ? text.substr(cut) : text.substr(0, cut));
    text = from_right ? strip_right(text.substr(0, cut)) : strip_left(text.substr(cut));
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_on(std::string_view text, std::string_view separator,
                                       int64_t most, bool from_right) {
  std::vector<std::string_view> parts;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(from_right ? text.substr(at + separator.size()) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(at + separator.size());
  }
  parts.push_back(text);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t end = i;
    const char32_t code = next_code_point(text, i);
    if (!is_line_end(code)) continue;
    if (code == '\r' && i < text.size() && text[i] == '\n') ++i;
    lines.push_back(text.substr(start, (keep_ends ? i : end) - start));
    start = i;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

size_t count_occurrences(std::string_view text, std::string_view part) {
  if (part.empty()) return count_code_points(text) + 1;
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

std::string replace_all(Runtime& runtime, std::string_view text, std::string_view from,
                        std::string_view to, int64_t most) {
  runtime.work(text.size() + from.size());
  size_t count = count_occurrences(text, from);
  if (most >= 0) count = std::min(count, static_cast<size_t>(most));
  size_t grown = 0;
  if (__builtin_mul_overflow(count, to.size(), &grown)) grown = static_cast<size_t>(-1);
  runtime.work(grown);
  std::string out;
  size_t position = 0;
  for (size_t i = 0; i < count; ++i) {
    if (from.empty()) {
      // Between code points, and before the first.
      out += to;
      const size_t start = position;
      if (position < text.size()) next_code_point(text, position);
      out += text.substr(start, position - start);
      continue;
    }
    const size_t at = text.find(from, position);
    out += text.substr(position, at - position);
    out += to;
    position = at + from.size();
  }
  out += text.substr(position);
  return out;
}

std::string pad(Runtime& runtime, std::string_view text, size_t length, int64_t width,
                std::string_view fill, Side side) {
  if (width <= static_cast<int64_t>(length)) return std::string(text);
  const size_t missing = static_cast<size_t>(width) - length;
  runtime.work(missing);
  runtime.work(missing * std::min<size_t>(fill.size(), 4));
  // Python puts the odd one of str.center() on the left where the width is odd.
  const size_t left = side == Side::kLeft   ? missing
                      : side == Side::kBoth ? missing / 2 + (missing & width & 1)
                                            : 0;
  return repeated(fill, left) + std::string(text) + repeated(fill, missing - left);
}

bool all_alphanumeric(std::string_view text) {
  return all_of(text, false, [](char32_t code) {
    return is_alphabetic(code) || is_decimal(code) || is_digit(code) || is_numeric(code);
  });
}
bool all_alphabetic(std::string_view text) { return all_of(text, false, is_alphabetic); }
bool all_ascii(std::string_view text) {
  return all_of(text, true, [](char32_t code) { return code < 0x80; });
}
bool all_decimal(std::string_view text) { return all_of(text, false, is_decimal); }
bool all_digits(std::string_view text) { return all_of(text, false, is_digit); }
bool all_numeric(std::string_view text) { return all_of(text, false, is_numeric); }
bool all_printable(std::string_view text) { return all_of(text, true, is_printable); }
bool all_space(std::string_view text) { return all_of(text, false, is_space); }
bool is_lower_case(std::string_view text) { return has_case(text, is_lower); }
bool is_upper_case(std::string_view text) { return has_case(text, is_upper); }

}  // namespace lockstep::jinja
