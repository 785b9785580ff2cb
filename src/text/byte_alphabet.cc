#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace lockstep {
namespace {

constexpr uint16_t kNone = 0x100;

constexpr bool is_printable(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// Printable Latin-1 bytes stand for themselves; the other 68 follow from U+0100 on (specification
// 6.1, step 4).
constexpr std::array<uint16_t, 256 + 68> kByteOfCharacter = [] {
  std::array<uint16_t, 256 + 68> bytes{};
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[byte] = kNone;
    if (!is_printable(byte)) bytes[next++] = static_cast<uint16_t>(byte);
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (is_printable(byte)) bytes[byte] = static_cast<uint16_t>(byte);
  }
  return bytes;
}();

}  // namespace

std::optional<std::string> bytes_of_piece(std::string_view piece) {
  std::string bytes;
  bytes.reserve(piece.size());
  const char* at = piece.data();
  while (at != piece.data() + piece.size()) {
    const uint32_t character = next_code_point(at);
    if (character >= kByteOfCharacter.size() || kByteOfCharacter[character] == kNone) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(kByteOfCharacter[character]));
  }
  return bytes;
}

}  // namespace lockstep
