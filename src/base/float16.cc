#include "base/float16.h"

namespace lockstep {

uint16_t float_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal, in steps of 2^-24
    const float steps = std::bit_cast<float>(magnitude) * 0x1p24f;
    // Adding 2^23 rounds to an integer, ties to even, because 1 is the last place of the sum.
    const float rounded = steps + 0x1p23f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) & 0x7ffu));
  }
  const uint32_t rebased = magnitude - (112u << 23);
  return static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

}  // namespace lockstep
