// UTF-8 as text: where it is broken, and Python's repair of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr uint32_t kReplacementCharacter = 0xFFFD;
inline constexpr uint32_t kMaxCodePoint = 0x10FFFF;

// One step through bytes that may be broken.
struct Utf8Step {
  uint32_t code_point = kReplacementCharacter;
  uint8_t length = 0;      // bytes to step over: one character, or one maximal invalid subpart
  bool valid = false;      // if not, code_point is U+FFFD
  bool truncated = false;  // invalid only because the text ends inside a character
};

// Reads the character at `text[0]`; `text` must not be empty. Overlong forms, surrogates and values
// above U+10FFFF are invalid. An invalid subpart is the longest start of a valid character found
// there, or one byte (Unicode 15, section 3.9, as Python's decoder cuts it).
Utf8Step read_utf8(std::string_view text);

// Byte offset of the first invalid sequence, or nothing if the text is valid.
std::optional<size_t> find_invalid_utf8(std::string_view text);

inline bool is_valid_utf8(std::string_view text) { return !find_invalid_utf8(text).has_value(); }

// Python's text.decode("utf-8", errors="replace"): each maximal invalid subpart becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

// Reads one character of text that is known to be valid, and steps past it.
inline uint32_t next_code_point(const char*& at) {
  const auto byte = [&](int index) { return static_cast<uint8_t>(at[index]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) {
    at += 1;
    return lead;
  }
  uint32_t code_point;
  if (lead < 0xE0) {
    code_point = (lead & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    at += 2;
  } else if (lead < 0xF0) {
    code_point = (lead & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    at += 3;
  } else {
    code_point =
        (lead & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
    at += 4;
  }
  return code_point;
}

// Length of the run of ASCII bytes that starts at `from`.
size_t ascii_run(std::string_view text, size_t from);

// Appends a code point's UTF-8 form. Surrogates are encoded by the same rule; callers exclude them.
void append_utf8(uint32_t code_point, std::string& out);

}  // namespace lockstep
