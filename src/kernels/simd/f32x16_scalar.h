// f32x16.h in portable C++: the definition that the vector forms are held to.
#pragma once

#include <bit>
#include <cmath>

#include "base/float16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

struct I32x16 {
  int32_t v[16];
  static I32x16 splat(int32_t x) {
    I32x16 r;
    for (int32_t& lane : r.v) lane = x;
    return r;
  }
  static I32x16 load(const void* address) {
    I32x16 r;
    std::memcpy(r.v, address, sizeof(r.v));
    return r;
  }
  void store(void* address) const { std::memcpy(address, v, sizeof(v)); }
};

struct F32x16 {
  float v[16];
  static F32x16 splat(float x) {
    F32x16 r;
    for (float& lane : r.v) lane = x;
    return r;
  }
  static F32x16 zero() { return splat(0.0f); }
  static F32x16 load(const void* address) {
    F32x16 r;
    std::memcpy(r.v, address, sizeof(r.v));
    return r;
  }
  static F32x16 load_bf16(const void* address) {
    F32x16 r;
    for (int i = 0; i < 16; ++i) {
      r.v[i] =
          bf16_to_float(load_unaligned<uint16_t>(static_cast<const std::byte*>(address) + 2 * i));
    }
    return r;
  }
  static F32x16 load_f16(const void* address) {
    F32x16 r;
    for (int i = 0; i < 16; ++i) {
      r.v[i] =
          f16_to_float(load_unaligned<uint16_t>(static_cast<const std::byte*>(address) + 2 * i));
    }
    return r;
  }
  static F32x16 load_u8(const void* address) {
    F32x16 r;
    const auto* bytes = static_cast<const uint8_t*>(address);
    for (int i = 0; i < 16; ++i) r.v[i] = static_cast<float>(bytes[i]);
    return r;
  }
  static F32x16 load_i8(const void* address) {
    F32x16 r;
    const auto* bytes = static_cast<const int8_t*>(address);
    for (int i = 0; i < 16; ++i) r.v[i] = static_cast<float>(bytes[i]);
    return r;
  }
  void store(void* address) const { std::memcpy(address, v, sizeof(v)); }
};

struct Mask16 {
  bool v[16];
};

template <typename Out, typename Function>
Out map_lanes(const Function& function) {
  Out r;
  for (int i = 0; i < 16; ++i) r.v[i] = function(i);
  return r;
}

inline F32x16 operator+(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return a.v[i] + b.v[i]; });
}
inline F32x16 operator-(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return a.v[i] - b.v[i]; });
}
inline F32x16 operator*(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return a.v[i] * b.v[i]; });
}
inline F32x16 operator/(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return a.v[i] / b.v[i]; });
}
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return map_lanes<F32x16>([&](int i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
}
inline F32x16 max(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline F32x16 min(F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline F32x16 sqrt(F32x16 a) {
  return map_lanes<F32x16>([&](int i) { return std::sqrt(a.v[i]); });
}
inline F32x16 abs(F32x16 a) {
  return map_lanes<F32x16>([&](int i) { return std::fabs(a.v[i]); });
}
inline Mask16 less(F32x16 a, F32x16 b) {
  return map_lanes<Mask16>([&](int i) { return a.v[i] < b.v[i]; });
}
inline Mask16 is_nan(F32x16 a) {
  return map_lanes<Mask16>([&](int i) { return a.v[i] != a.v[i]; });
}
inline F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return map_lanes<F32x16>([&](int i) { return mask.v[i] ? a.v[i] : b.v[i]; });
}
inline I32x16 select(Mask16 mask, I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([&](int i) { return mask.v[i] ? a.v[i] : b.v[i]; });
}
// +0 in the masked lanes, v elsewhere.
inline F32x16 zero_where(const Mask16& mask, const F32x16& v) {
  return map_lanes<F32x16>([&](int i) { return mask.v[i] ? 0.0f : v.v[i]; });
}
inline I32x16 as_i32(F32x16 a) {
  return map_lanes<I32x16>([&](int i) { return std::bit_cast<int32_t>(a.v[i]); });
}
inline F32x16 as_f32(I32x16 a) {
  return map_lanes<F32x16>([&](int i) { return std::bit_cast<float>(a.v[i]); });
}
inline F32x16 to_f32(I32x16 a) {
  return map_lanes<F32x16>([&](int i) { return static_cast<float>(a.v[i]); });
}
inline I32x16 operator+(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([&](int i) {
    return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) + static_cast<uint32_t>(b.v[i]));
  });
}
inline I32x16 operator-(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([&](int i) {
    return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) - static_cast<uint32_t>(b.v[i]));
  });
}
inline I32x16 operator&(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([&](int i) { return a.v[i] & b.v[i]; });
}
inline I32x16 operator|(I32x16 a, I32x16 b) {
  return map_lanes<I32x16>([&](int i) { return a.v[i] | b.v[i]; });
}
template <int kBits>
I32x16 shift_left(I32x16 a) {
  return map_lanes<I32x16>(
      [&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) << kBits); });
}
template <int kBits>
I32x16 shift_right_logical(I32x16 a) {
  return map_lanes<I32x16>(
      [&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) >> kBits); });
}
template <int kBits>
I32x16 shift_right(I32x16 a) {
  return map_lanes<I32x16>([&](int i) { return a.v[i] >> kBits; });
}

inline void store_bf16_bits(I32x16 bits, void* address) {
  uint16_t halves[16];
  for (int i = 0; i < 16; ++i) halves[i] = static_cast<uint16_t>(bits.v[i]);
  std::memcpy(address, halves, sizeof(halves));
}

// The fixed tree 16-8-4-2-1: lane i joins lane i + half, the lower lane on the left.
template <typename Combine>
float reduce_lanes(F32x16 a, const Combine& combine) {
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) a.v[i] = combine(a.v[i], a.v[i + half]);
  }
  return a.v[0];
}
inline float reduce_add(F32x16 a) {
  return reduce_lanes(a, [](float x, float y) { return x + y; });
}
inline void reduce_add_4(const F32x16& a, const F32x16& b, const F32x16& c, const F32x16& d,
                         float* out) {
  out[0] = reduce_add(a);
  out[1] = reduce_add(b);
  out[2] = reduce_add(c);
  out[3] = reduce_add(d);
}
inline float reduce_max(F32x16 a) {
  return reduce_lanes(a, [](float x, float y) { return x > y ? x : y; });
}

// Exact: sum of 32 products of an unsigned byte (at most 127 where the other ISAs would saturate)
// and a signed one.
inline int32_t dot_u8_s8_32(const uint8_t* a, const int8_t* b) {
  int32_t sum = 0;
  for (int i = 0; i < 32; ++i) sum += static_cast<int32_t>(a[i]) * b[i];
  return sum;
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
