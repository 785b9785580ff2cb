// Code points as Python's str sees them: templates index, strip and change case by code point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/utf8.h"

namespace lockstep::jinja {

// All text here is valid UTF-8.

// The code point that starts at `position`, which moves behind it.
char32_t next_code_point(std::string_view text, size_t& position);
// The code point that ends before `position`, which moves to its start.
char32_t previous_code_point(std::string_view text, size_t& position);
size_t count_code_points(std::string_view text);
// Byte position of code point `index`; the text's size where there are fewer.
size_t byte_position(std::string_view text, size_t index);

// Python's str.isspace() and so on, for one code point.
bool is_space(char32_t code);
bool is_printable(char32_t code);
bool is_alphabetic(char32_t code);
bool is_decimal(char32_t code);
bool is_digit(char32_t code);
bool is_numeric(char32_t code);
bool is_upper(char32_t code);
bool is_lower(char32_t code);
bool is_title(char32_t code);
inline bool is_cased(char32_t code) { return is_upper(code) || is_lower(code) || is_title(code); }

// Python's str.upper() and str.lower(), and the title form of one code point. One code point may
// become several.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
void append_title(char32_t code, std::string& out);

std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

}  // namespace lockstep::jinja
