// Numbers and strings as a template writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::jinja {

struct NumberLiteral {
  size_t length = 0;  // bytes of `text` that belong to it
  bool is_float = false;
  bool overflow = false;  // an integer beyond 64 bits
  int64_t integer = 0;
  double number = 0;
};

// `text` starts with a digit. Underscores may stand between digits.
NumberLiteral read_number(std::string_view text, bool may_be_float);

// The value of a string literal between its quotes; `line` is for the fault.
std::string unescape_string(std::string_view body, int line);

// Python's int(text, base) and float(text); none where Python raises ValueError. An integer
// beyond 64 bits is a Fault.
std::optional<int64_t> parse_python_int(std::string_view text, int base);
std::optional<double> parse_python_float(std::string_view text);

}  // namespace lockstep::jinja
