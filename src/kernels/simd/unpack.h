// Packed integers of `kBits` bits (a little-endian bit stream) to bytes, 32 at a time: 4 * kBits
// bytes are read, no more.
//   unpack_32<kBits>(packed, bytes)
//   unpack_32_floats<kBits>(packed, first, second)     16 values each, as floats
// Where kHasTables<kBits>, weights can be looked up by q instead:
//   table_of_q<kBits>()                                the q that each table lane stands for
//   look_up_32<kBits>(packed, table, first, second)
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/simd/f32x16.h"

#if defined(LOCKSTEP_ISA_AVX512) || defined(LOCKSTEP_ISA_AVX2)
#include "kernels/simd/unpack_x86.h"
#else

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

template <int kBits>
inline void unpack_32_floats(const uint8_t* packed, F32x16& first, F32x16& second) {
  uint8_t bytes[32];
  unpack_32<kBits>(packed, bytes);
  first = F32x16::load_u8(bytes);
  second = F32x16::load_u8(bytes + 16);
}

template <int kBits>
constexpr bool kHasTables = false;
template <int kBits>
F32x16 table_of_q();
template <int kBits>
void look_up_32(const uint8_t* packed, F32x16 table, F32x16& first, F32x16& second);

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA

#endif
