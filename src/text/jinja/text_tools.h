// What str methods and text filters share. Nothing here knows of values; sizes are charged to the
// rendering before they are made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/runtime.h"

namespace lockstep::jinja {

std::string title_case(std::string_view text);   // str.title()
std::string capitalized(std::string_view text);  // str.capitalize()
std::string swap_case(std::string_view text);

// `set` lists the code points to remove.
std::string_view strip_characters(Runtime& runtime, std::string_view text, std::string_view set,
                                  bool left, bool right);

// At most `most` cuts where it is not negative.
std::vector<std::string_view> split_on_space(std::string_view text, int64_t most, bool from_right);
std::vector<std::string_view> split_on(std::string_view text, std::string_view separator,
                                       int64_t most, bool from_right);
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

size_t count_occurrences(std::string_view text, std::string_view part);
// At most `most` replacements where it is not negative.
std::string replace_all(Runtime& runtime, std::string_view text, std::string_view from,
                        std::string_view to, int64_t most);

// Where the fill goes.
enum class Side : uint8_t { kLeft, kRight, kBoth };
// `length` is the text's, `width` the result's, both in code points.
std::string pad(Runtime& runtime, std::string_view text, size_t length, int64_t width,
                std::string_view fill, Side side);

// str.isalnum() and so on.
bool all_alphanumeric(std::string_view text);
bool all_alphabetic(std::string_view text);
bool all_ascii(std::string_view text);
bool all_decimal(std::string_view text);
bool all_digits(std::string_view text);
bool all_numeric(std::string_view text);
bool all_printable(std::string_view text);
bool all_space(std::string_view text);
bool is_lower_case(std::string_view text);
bool is_upper_case(std::string_view text);

}  // namespace lockstep::jinja
