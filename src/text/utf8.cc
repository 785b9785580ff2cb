#include "text/utf8.h"

#include <cstring>

namespace lockstep {
namespace {

// Length of the character that `lead` begins, and the range of its second byte; 0 if none does.
struct Lead {
  uint8_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
};

constexpr Lead classify_lead(uint8_t lead) {
  if (lead < 0x80) return {.length = 1};
  if (lead < 0xC2) return {.length = 0};  // continuation bytes and overlong two-byte forms
  if (lead < 0xE0) return {.length = 2};
  if (lead == 0xE0) return {.length = 3, .low = 0xA0};
  if (lead == 0xED) return {.length = 3, .high = 0x9F};  // surrogates
  if (lead < 0xF0) return {.length = 3};
  if (lead == 0xF0) return {.length = 4, .low = 0x90};
  if (lead < 0xF4) return {.length = 4};
  if (lead == 0xF4) return {.length = 4, .high = 0x8F};
  return {.length = 0};
}

}  // namespace

size_t ascii_run(std::string_view text, size_t from) {
  size_t at = from;
  while (at + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & 0x8080808080808080u) != 0) break;
    at += 8;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at - from;
}

Utf8Step read_utf8(std::string_view text) {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(text[index]); };
  const Lead lead = classify_lead(byte(0));
  if (lead.length == 0) return {.length = 1};
  if (lead.length == 1) return {.code_point = byte(0), .length = 1, .valid = true};
  uint32_t code_point = byte(0) & (0x7Fu >> lead.length);
  for (uint8_t index = 1; index < lead.length; ++index) {
    if (index == text.size()) return {.length = index, .truncated = true};
    const uint8_t low = index == 1 ? lead.low : 0x80;
    const uint8_t high = index == 1 ? lead.high : 0xBF;
    if (byte(index) < low || byte(index) > high) return {.length = index};
    code_point = code_point << 6 | (byte(index) & 0x3Fu);
  }
  return {.code_point = code_point, .length = lead.length, .valid = true};
}

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t at = ascii_run(text, 0); at < text.size();) {
    const Utf8Step step = read_utf8(text.substr(at));
    if (!step.valid) return at;
    at += step.length == 1 ? ascii_run(text, at) : step.length;
  }
  return std::nullopt;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string repaired;
  while (const std::optional<size_t> fault = find_invalid_utf8(text)) {
    repaired.append(text.substr(0, *fault));
    append_utf8(kReplacementCharacter, repaired);
    text.remove_prefix(*fault + read_utf8(text.substr(*fault)).length);
  }
  repaired.append(text);
  return repaired;
}

void append_utf8(uint32_t code_point, std::string& out) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace lockstep
