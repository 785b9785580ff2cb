// One byte of knowledge about every code point, in two stages so that it stays in the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

class CodePointMap {
 public:
  // `values` holds one byte for each of the 0x110000 code points.
  explicit CodePointMap(std::span<const uint8_t> values);

  // Any number up to U+10FFFF.
  uint8_t operator[](uint32_t code_point) const {
    const uint32_t page = pages_[code_point >> kPageBits];
    return values_[page << kPageBits | (code_point & (kPageSize - 1))];
  }

 private:
  static constexpr uint32_t kPageBits = 7;
  static constexpr uint32_t kPageSize = 1u << kPageBits;

  std::vector<uint16_t> pages_;
  std::vector<uint8_t> values_;
};

// CodePointClass bits (unicode_tables.h) of every code point.
const CodePointMap& code_point_classes();

}  // namespace lockstep
