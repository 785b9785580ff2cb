#include "text/jinja/literal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "text/jinja/fault.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

// The value of a digit in any base up to 36, or 36.
int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 36;
}

// Bytes of the digits at the start of `text`, single underscores between them included.
size_t digits_length(std::string_view text, int base) {
  size_t length = 0;
  while (length < text.size()) {
    const size_t next = length + (length > 0 && text[length] == '_' ? 1 : 0);
    if (next >= text.size() || digit_value(text[next]) >= base) break;
    length = next + 1;
  }
  return length;
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_') out += c;
  }
  return out;
}

double read_double(const std::string& text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    const size_t exponent = text.find_first_of("eE");
    const bool tiny =
        exponent != std::string::npos && text.find('-', exponent) != std::string::npos;
    return tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return value;
}

// Bytes of "e+12" at the start of `text`, or 0.
size_t exponent_length(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  const size_t sign = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 1 : 0;
  const size_t digits = digits_length(text.substr(1 + sign), 10);
  return digits == 0 ? 0 : 1 + sign + digits;
}

size_t fraction_length(std::string_view text) {
  if (text.empty() || text[0] != '.') return 0;
  const size_t digits = digits_length(text.substr(1), 10);
  return digits == 0 ? 0 : 1 + digits;
}

// False where the value does not fit.
bool read_integer(std::string_view digits, int base, int64_t& value) {
  const std::string plain = without_underscores(digits);
  return std::from_chars(plain.data(), plain.data() + plain.size(), value, base).ec == std::errc();
}

int prefix_base(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 0;
  switch (text[1]) {
    case 'b':
    case 'B':
      return 2;
    case 'o':
    case 'O':
      return 8;
    case 'x':
    case 'X':
      return 16;
    default:
      return 0;
  }
}

// What Python makes of a backslash before a character beyond ASCII: the backslash stays and the
// character turns into its own escape.
void append_escaped_code_point(char32_t code, std::string& out) {
  const auto number = static_cast<uint32_t>(code);
  if (code < 0x100) {
    out += fmt::format("\\x{:02x}", number);
  } else if (code < 0x10000) {
    out += fmt::format("\\u{:04x}", number);
  } else {
    out += fmt::format("\\U{:08x}", number);
  }
}

class Unescaper {
 public:
  Unescaper(std::string_view body, int line) : body_(body), line_(line) {}

  std::string run() {
    while (position_ < body_.size()) {
      if (body_[position_] != '\\') {
        out_ += body_[position_++];
      } else {
        ++position_;
        escape();
      }
    }
    return std::move(out_);
  }

 private:
  void escape() {
    static constexpr std::string_view kNames = "\\'\"abfnrtv";
    static constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
    const char c = body_[position_];
    if (const size_t simple = kNames.find(c); simple != std::string_view::npos) {
      ++position_;
      out_ += kValues[simple];
    } else if (c == '\n') {
      ++position_;
    } else if (c >= '0' && c <= '7') {
      octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++position_;
      hexadecimal(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      fail_at(line_, "character names (\\N{...}) in strings are not supported",
              FaultKind::kUnsupported);
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      append_escaped_code_point(next_code_point(body_, position_), out_);
    } else {
      out_ += '\\';
    }
  }

  void octal() {
    char32_t code = 0;
    for (int i = 0; i < 3 && position_ < body_.size() && digit_value(body_[position_]) < 8; ++i) {
      code = code * 8 + static_cast<char32_t>(digit_value(body_[position_++]));
    }
    append_utf8(code, out_);
  }

  void hexadecimal(int digits) {
    char32_t code = 0;
    for (int i = 0; i < digits; ++i) {
      const int value = position_ < body_.size() ? digit_value(body_[position_]) : 36;
      if (value >= 16) fail_at(line_, "a hexadecimal escape in a string is too short");
      code = code * 16 + static_cast<char32_t>(value);
      ++position_;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      fail_at(line_,
              fmt::format("U+{:04X} in a string is no character", static_cast<uint32_t>(code)));
    }
    append_utf8(code, out_);
  }

  std::string_view body_;
  int line_;
  size_t position_ = 0;
  std::string out_;
};

}  // namespace

NumberLiteral read_number(std::string_view text, bool may_be_float) {
  NumberLiteral literal;
  const size_t whole = digits_length(text, 10);
  const size_t fraction = fraction_length(text.substr(whole));
  const size_t exponent = exponent_length(text.substr(whole + fraction));
  if (may_be_float && fraction + exponent > 0) {
    literal.is_float = true;
    literal.length = whole + fraction + exponent;
    literal.number = read_double(without_underscores(text.substr(0, literal.length)));
    return literal;
  }
  int base = prefix_base(text);
  // An underscore may follow the prefix of a base.
  const size_t skip = base == 0 ? 0 : text.size() > 2 && text[2] == '_' ? 3 : 2;
  size_t length = base == 0 ? 0 : digits_length(text.substr(skip), base);
  if (length == 0) {
    base = 10;
    // A leading zero may only be followed by zeros: "007" is 00 and 7.
    length = digits_length(text, text[0] == '0' ? 1 : 10);
    literal.length = length;
  } else {
    literal.length = skip + length;
    text.remove_prefix(skip);
  }
  literal.overflow = !read_integer(text.substr(0, length), base, literal.integer);
  return literal;
}

std::string unescape_string(std::string_view body, int line) { return Unescaper(body, line).run(); }

std::optional<int64_t> parse_python_int(std::string_view text, int base) {
  text = strip_left(strip_right(text));
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const int prefix = prefix_base(text);
  if (prefix != 0 && (base == prefix || base == 0)) {
    text.remove_prefix(text.size() > 2 && text[2] == '_' ? 3 : 2);
    base = prefix;
  }
  if (base == 0) {
    base = 10;
    if (text.size() > 1 && text[0] == '0' &&
        text.find_first_not_of("0_") != std::string_view::npos) {
      return std::nullopt;
    }
  }
  if (base < 2 || base > 36 || text.empty() || digits_length(text, base) != text.size()) {
    return std::nullopt;
  }
  int64_t value = 0;
  if (!read_integer((negative ? "-" : "") + std::string(text), base, value)) {
    fail("an integer does not fit in 64 bits");
  }
  return value;
}

std::optional<double> parse_python_float(std::string_view text) {
  text = strip_left(strip_right(text));
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const double sign = negative ? -1.0 : 1.0;
  const std::string lower = to_lower(text);
  if (lower == "inf" || lower == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  const size_t whole = digits_length(text, 10);
  size_t fraction = fraction_length(text.substr(whole));
  if (whole > 0 && fraction == 0 && text.substr(whole).starts_with('.')) fraction = 1;
  if (whole + fraction == 0 || (whole == 0 && fraction < 2)) return std::nullopt;
  const size_t length = whole + fraction + exponent_length(text.substr(whole + fraction));
  if (length != text.size()) return std::nullopt;
  return sign * read_double(without_underscores(text));
}

}  // namespace lockstep::jinja
