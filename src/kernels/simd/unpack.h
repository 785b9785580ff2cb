// Packed integers of `kBits` bits (a little-endian bit stream) to bytes, 32 at a time: 4 * kBits
// bytes are read, no more.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <int kBits>
inline void unpack_32(const uint8_t* packed, uint8_t* out) {
  static_assert(kBits >= 1 && kBits <= 8);
  for (int i = 0; i < 32; i += 8) {
    uint64_t window = 0;
    std::memcpy(&window, packed + i / 8 * kBits, kBits);
    for (int j = 0; j < 8; ++j) {
      out[i + j] = static_cast<uint8_t>(window & ((1u << kBits) - 1u));
      window >>= kBits;
    }
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
