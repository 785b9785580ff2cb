#include "base/crc32.h"

#include <array>

namespace lockstep {

uint32_t crc32(uint32_t crc, std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1u) ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  crc = ~crc;
  for (std::byte b : bytes) crc = table[(crc ^ std::to_integer<uint32_t>(b)) & 0xffu] ^ (crc >> 8);
  return ~crc;
}

}  // namespace lockstep
