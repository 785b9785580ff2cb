#include "text/jinja/percent_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "text/jinja/fault.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_tools.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

constexpr int64_t kMaxWidth = 1 << 20;

struct Directive {
  std::string flags;
  int64_t width = 0;
  std::optional<int64_t> precision;
  char type = 's';
  bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

// Digits of an integer and what stands before them.
struct Digits {
  std::string sign, digits;
};

// str(value) and repr(value), escaped where the format is marked safe.
std::string filled_in(Runtime& runtime, const Value& value, bool escape) {
  std::string text = to_text(runtime, value);
  return escape && !value.is_safe_text() ? escape_html(text) : text;
}

std::string filled_in_repr(Runtime& runtime, const Value& value, bool escape) {
  std::string text;
  append_repr(runtime, value, text);
  return escape ? escape_html(text) : text;
}

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Value& format, const Value& values)
      : runtime_(runtime), format_(format.text()), safe_(format.is_safe_text()), values_(values) {}

  std::string run() {
    while (position_ < format_.size()) {
      if (format_[position_] != '%') {
        out_ += format_[position_++];
      } else {
        ++position_;
        convert();
      }
    }
    check_all_used();
    return std::move(out_);
  }

 private:
  char take() {
    if (position_ >= format_.size()) fail("incomplete format");
    return format_[position_++];
  }

  int64_t take_number() {
    int64_t value = 0;
    while (position_ < format_.size() && format_[position_] >= '0' && format_[position_] <= '9') {
      value = value * 10 + (format_[position_++] - '0');
      if (value > kMaxWidth) fail("a width in a format is too large", FaultKind::kLimit);
    }
    return value;
  }

  int64_t take_size() {
    if (position_ >= format_.size() || format_[position_] != '*') return take_number();
    ++position_;
    const Value& value = next_value();
    if (!value.is_integral()) fail("* in a format wants an integer");
    if (std::abs(static_cast<double>(value.as_integer())) > kMaxWidth) {
      fail("a width in a format is too large", FaultKind::kLimit);
    }
    return value.as_integer();
  }

  const Value& next_value() {
    if (!values_.is(Kind::kTuple)) {
      if (used_++ > 0) fail("not enough arguments for format string");
      return values_;
    }
    if (used_ >= values_.items().size()) fail("not enough arguments for format string");
    return values_.items()[used_++];
  }

  void check_all_used() const {
    const bool single = !values_.is(Kind::kTuple);
    // Whatever can be indexed counts as a mapping that need not be used.
    const bool mapping = values_.is(Kind::kMapping) || values_.is(Kind::kList) ||
                         values_.is(Kind::kRange) || values_.is(Kind::kUndefined);
    if (single ? used_ == 0 && !mapping : used_ < values_.items().size()) {
      fail("not all arguments converted during string formatting");
    }
  }

  const Value* take_name() {
    if (position_ >= format_.size() || format_[position_] != '(') return nullptr;
    const size_t end = format_.find(')', position_);
    if (end == std::string_view::npos) fail("incomplete format key");
    const std::string_view name = format_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    if (!values_.is(Kind::kMapping)) fail("format requires a mapping");
    const Value* value = values_.as<Mapping>().find(name);
    if (value == nullptr) fail(fmt::format("the format's key '{}' is not in the mapping", name));
    return value;
  }

  void convert() {
    Directive directive;
    const Value* named = take_name();
    while (position_ < format_.size() &&
           std::string_view("-+ #0").find(format_[position_]) != std::string_view::npos) {
      directive.flags += format_[position_++];
    }
    directive.width = take_size();
    if (directive.width < 0) {
      directive.flags += '-';
      directive.width = -directive.width;
    }
    if (position_ < format_.size() && format_[position_] == '.') {
      ++position_;
      directive.precision = std::max<int64_t>(take_size(), 0);
    }
    directive.type = take();
    while (std::string_view("hlL").find(directive.type) != std::string_view::npos) {
      directive.type = take();
    }
    if (directive.type == '%') {
      out_ += '%';
      return;
    }
    write(directive, named != nullptr ? *named : next_value());
    if (named != nullptr) ++used_;
  }

  void write(const Directive& directive, const Value& value) {
    switch (directive.type) {
      case 's':
        return write_text(directive, filled_in(runtime_, value, safe_));
      case 'r':
        return write_text(directive, filled_in_repr(runtime_, value, safe_));
      case 'c':
        return write_text(directive, character(value));
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return write_integer(directive, value);
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
        return write_float(directive, value);
      default:
        fail(fmt::format("unsupported format character '{}'", directive.type));
    }
  }

  static std::string character(const Value& value) {
    if (value.is(Kind::kText) && value.text_length() == 1) return std::string(value.text());
    const int64_t code = value.is_integral() ? value.as_integer() : -1;
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      fail("%c requires a character");
    }
    std::string out;
    append_utf8(static_cast<char32_t>(code), out);
    return out;
  }

  void write_text(const Directive& directive, std::string_view text) {
    if (directive.precision) {
      text = text.substr(0, byte_position(text, static_cast<size_t>(*directive.precision)));
    }
    append_padded(text, directive, directive.has('-') ? Side::kRight : Side::kLeft);
  }

  void append_padded(std::string_view text, const Directive& directive, Side side) {
    out_ += pad(runtime_, text, count_code_points(text), directive.width, " ", side);
  }

  void write_number(const Directive& directive, const Digits& number) {
    std::string digits = number.digits;
    const auto room = directive.width - static_cast<int64_t>(number.sign.size());
    if (directive.has('0') && !directive.has('-')) {
      digits = pad(runtime_, digits, digits.size(), room, "0", Side::kLeft);
    }
    append_padded(number.sign + digits, directive, directive.has('-') ? Side::kRight : Side::kLeft);
  }

  static std::string sign_of(const Directive& directive, bool negative) {
    if (negative) return "-";
    return directive.has('+') ? "+" : directive.has(' ') ? " " : "";
  }

  void write_integer(const Directive& directive, const Value& value) {
    const bool decimal = std::string_view("diu").find(directive.type) != std::string_view::npos;
    int64_t number = value.as_integer();
    if (decimal && value.is(Kind::kFloat)) {
      const double whole = std::trunc(value.as_double());
      if (!(std::abs(whole) < 9.2e18)) fail("a number is too large to be written as an integer");
      number = static_cast<int64_t>(whole);
    } else if (!value.is_integral()) {
      require_defined(value);
      fail(fmt::format("%{} format: a number is required, not {}", directive.type,
                       type_name(value)));
    }
    const uint64_t magnitude =
        number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    Digits parts;
    parts.sign = sign_of(directive, number < 0);
    if (directive.has('#') && !decimal) parts.sign += std::string("0") + directive.type;
    parts.digits = directive.type == 'x'   ? fmt::format("{:x}", magnitude)
                   : directive.type == 'X' ? fmt::format("{:X}", magnitude)
                   : directive.type == 'o' ? fmt::format("{:o}", magnitude)
                                           : fmt::format("{}", magnitude);
    parts.digits = pad(runtime_, parts.digits, parts.digits.size(), directive.precision.value_or(0),
                       "0", Side::kLeft);
    write_number(directive, parts);
  }

  void write_float(const Directive& directive, const Value& value) {
    if (!value.is_number()) {
      require_defined(value);
      fail(fmt::format("must be a real number, not {}", type_name(value)));
    }
    const int64_t precision = directive.precision.value_or(6);
    if (precision > 1000) fail("a precision in a format is too large", FaultKind::kLimit);
    const double number = value.as_double();
    const std::string specification =
        fmt::format("{{:{}.{}{}}}", directive.has('#') ? "#" : "", precision, directive.type);
    Digits parts;
    parts.sign = sign_of(directive, std::signbit(number) && !std::isnan(number));
    parts.digits = fmt::format(fmt::runtime(specification), std::abs(number));
    write_number(directive, parts);
  }

  Runtime& runtime_;
  const std::string_view format_;
  const bool safe_;  // what is filled in must be escaped
  const Value& values_;
  size_t position_ = 0;
  size_t used_ = 0;
  std::string out_;
};

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Value& format, const Arguments& arguments)
      : runtime_(runtime),
        format_(format.text()),
        safe_(format.is_safe_text()),
        arguments_(arguments) {}

  std::string run() {
    for (size_t i = 0; i < format_.size(); ++i) {
      const char c = format_[i];
      const bool doubled = i + 1 < format_.size() && format_[i + 1] == c;
      if (c != '{' && c != '}') {
        out_ += c;
      } else if (doubled) {
        out_ += c;
        ++i;
      } else if (c == '}') {
        fail("single '}' in a format string");
      } else {
        const size_t end = format_.find('}', i);
        if (end == std::string_view::npos) fail("single '{' in a format string");
        write_field(format_.substr(i + 1, end - i - 1));
        i = end;
      }
    }
    return std::move(out_);
  }

 private:
  void write_field(std::string_view field) {
    if (field.find_first_of(":[.{") != std::string_view::npos) {
      fail(fmt::format("the format field '{{{}}}' is not supported: only names, numbers, !s and !r "
                       "are",
                       field),
           FaultKind::kUnsupported);
    }
    const size_t mark = field.find('!');
    const std::string_view conversion = mark == std::string_view::npos ? "" : field.substr(mark);
    const Value& value = find(field.substr(0, mark));
    if (conversion == "!r") {
      out_ += filled_in_repr(runtime_, value, safe_);
    } else if (conversion.empty() || conversion == "!s") {
      out_ += filled_in(runtime_, value, safe_);
    } else {
      fail(fmt::format("unknown conversion '{}' in a format", conversion));
    }
    runtime_.work(out_.size() - charged_);
    charged_ = out_.size();
  }

  const Value& find(std::string_view name) {
    const bool automatic = name.empty();
    const bool number = all_ascii(name) && all_digits(name);
    if (automatic || number) {
      if (numbered_ && *numbered_ != number) fail("cannot mix {} and {0} in one format");
      numbered_ = number;
      if (name.size() > 9) fail("a position in a format is too large");
      const size_t position = automatic ? next_++ : std::stoul(std::string(name));
      if (position >= arguments_.positional.size()) fail("a position in a format has no value");
      return arguments_.positional[position];
    }
    for (const auto& [key, value] : arguments_.keyword) {
      if (key == name) return value;
    }
    fail(fmt::format("the format's name '{}' has no value", name));
  }

  Runtime& runtime_;
  const std::string_view format_;
  const bool safe_;  // what is filled in must be escaped
  const Arguments& arguments_;
  std::optional<bool> numbered_;
  size_t next_ = 0;
  size_t charged_ = 0;
  std::string out_;
};

}  // namespace

Value format_percent(Runtime& runtime, const Value& format, const Value& values) {
  return make_text(runtime, PercentFormatter(runtime, format, values).run(), format.is_safe_text());
}

Value format_braces(Runtime& runtime, const Value& format, const Arguments& arguments) {
  return make_text(runtime, BraceFormatter(runtime, format, arguments).run(),
                   format.is_safe_text());
}

}  // namespace lockstep::jinja
