// f32x16.h for NEON on AArch64.
#pragma once

#include <arm_neon.h>

namespace lockstep::LOCKSTEP_ISA {
namespace {

struct I32x16 {
  int32x4_t v[4];
  static I32x16 splat(int32_t x) {
    const int32x4_t q = vdupq_n_s32(x);
    return {{q, q, q, q}};
  }
  static I32x16 load(const void* address) {
    const auto* p = static_cast<const uint8_t*>(address);
    return {{vreinterpretq_s32_u8(vld1q_u8(p)), vreinterpretq_s32_u8(vld1q_u8(p + 16)),
             vreinterpretq_s32_u8(vld1q_u8(p + 32)), vreinterpretq_s32_u8(vld1q_u8(p + 48))}};
  }
  void store(void* address) const {
    auto* p = static_cast<uint8_t*>(address);
    for (int i = 0; i < 4; ++i) vst1q_u8(p + 16 * i, vreinterpretq_u8_s32(v[i]));
  }
};

struct F32x16 {
  float32x4_t v[4];
  static F32x16 splat(float x) {
    const float32x4_t q = vdupq_n_f32(x);
    return {{q, q, q, q}};
  }
  static F32x16 zero() { return splat(0.0f); }
  static F32x16 load(const void* address) {
    const auto* p = static_cast<const uint8_t*>(address);
    return {{vreinterpretq_f32_u8(vld1q_u8(p)), vreinterpretq_f32_u8(vld1q_u8(p + 16)),
             vreinterpretq_f32_u8(vld1q_u8(p + 32)), vreinterpretq_f32_u8(vld1q_u8(p + 48))}};
  }
  static F32x16 load_bf16(const void* address) {
    const auto* p = static_cast<const uint8_t*>(address);
    F32x16 r;
    for (int i = 0; i < 4; ++i) {
      const uint16x4_t halves = vreinterpret_u16_u8(vld1_u8(p + 8 * i));
      r.v[i] = vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
    }
    return r;
  }
  static F32x16 load_f16(const void* address) {
    const auto* p = static_cast<const uint8_t*>(address);
    F32x16 r;
    for (int i = 0; i < 4; ++i) {
      r.v[i] = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p + 8 * i)));
    }
    return r;
  }
  static F32x16 load_u8(const void* address) {
    const uint8x16_t bytes = vld1q_u8(static_cast<const uint8_t*>(address));
    const uint16x8_t lo = vmovl_u8(vget_low_u8(bytes));
    const uint16x8_t hi = vmovl_u8(vget_high_u8(bytes));
    return {
        {vcvtq_f32_u32(vmovl_u16(vget_low_u16(lo))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(lo))),
         vcvtq_f32_u32(vmovl_u16(vget_low_u16(hi))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(hi)))}};
  }
  static F32x16 load_i8(const void* address) {
    const int8x16_t bytes = vld1q_s8(static_cast<const int8_t*>(address));
    const int16x8_t lo = vmovl_s8(vget_low_s8(bytes));
    const int16x8_t hi = vmovl_s8(vget_high_s8(bytes));
    return {
        {vcvtq_f32_s32(vmovl_s16(vget_low_s16(lo))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(lo))),
         vcvtq_f32_s32(vmovl_s16(vget_low_s16(hi))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(hi)))}};
  }
  void store(void* address) const {
    auto* p = static_cast<uint8_t*>(address);
    for (int i = 0; i < 4; ++i) vst1q_u8(p + 16 * i, vreinterpretq_u8_f32(v[i]));
  }
};

struct Mask16 {
  uint32x4_t v[4];
};

template <typename Out, typename Function>
Out map_quads(const Function& function) {
  return {{function(0), function(1), function(2), function(3)}};
}

inline F32x16 operator+(F32x16 a, F32x16 b) {
  return map_quads<F32x16>([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
inline F32x16 operator-(F32x16 a, F32x16 b) {
  return map_quads<F32x16>([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
inline F32x16 operator*(F32x16 a, F32x16 b) {
  return map_quads<F32x16>([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
inline F32x16 operator/(F32x16 a, F32x16 b) {
  return map_quads<F32x16>([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
}
inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return map_quads<F32x16>([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}
// FMAX and FMIN propagate NaN; the wanted semantics is a comparison and a choice.
inline F32x16 max(F32x16 a, F32x16 b) {
  return map_quads<F32x16>(
      [&](int i) { return vbslq_f32(vcgtq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}
inline F32x16 min(F32x16 a, F32x16 b) {
  return map_quads<F32x16>(
      [&](int i) { return vbslq_f32(vcltq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}
inline F32x16 sqrt(F32x16 a) {
  return map_quads<F32x16>([&](int i) { return vsqrtq_f32(a.v[i]); });
}
inline F32x16 abs(F32x16 a) {
  return map_quads<F32x16>([&](int i) { return vabsq_f32(a.v[i]); });
}
inline Mask16 less(F32x16 a, F32x16 b) {
  return map_quads<Mask16>([&](int i) { return vcltq_f32(a.v[i], b.v[i]); });
}
inline Mask16 is_nan(F32x16 a) {
  return map_quads<Mask16>([&](int i) { return vmvnq_u32(vceqq_f32(a.v[i], a.v[i])); });
}
inline F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return map_quads<F32x16>([&](int i) { return vbslq_f32(mask.v[i], a.v[i], b.v[i]); });
}
inline I32x16 select(Mask16 mask, I32x16 a, I32x16 b) {
  return map_quads<I32x16>([&](int i) { return vbslq_s32(mask.v[i], a.v[i], b.v[i]); });
}
// +0 in the masked lanes, v elsewhere.
inline F32x16 zero_where(Mask16 mask, F32x16 v) {
  return map_quads<F32x16>([&](int i) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(v.v[i]), mask.v[i]));
  });
}
inline I32x16 as_i32(F32x16 a) {
  return map_quads<I32x16>([&](int i) { return vreinterpretq_s32_f32(a.v[i]); });
}
inline F32x16 as_f32(I32x16 a) {
  return map_quads<F32x16>([&](int i) { return vreinterpretq_f32_s32(a.v[i]); });
}
inline F32x16 to_f32(I32x16 a) {
  return map_quads<F32x16>([&](int i) { return vcvtq_f32_s32(a.v[i]); });
}
inline I32x16 operator+(I32x16 a, I32x16 b) {
  return map_quads<I32x16>([&](int i) { return vaddq_s32(a.v[i], b.v[i]); });
}
inline I32x16 operator-(I32x16 a, I32x16 b) {
  return map_quads<I32x16>([&](int i) { return vsubq_s32(a.v[i], b.v[i]); });
}
inline I32x16 operator&(I32x16 a, I32x16 b) {
  return map_quads<I32x16>([&](int i) { return vandq_s32(a.v[i], b.v[i]); });
}
inline I32x16 operator|(I32x16 a, I32x16 b) {
  return map_quads<I32x16>([&](int i) { return vorrq_s32(a.v[i], b.v[i]); });
}
template <int kBits>
I32x16 shift_left(I32x16 a) {
  return map_quads<I32x16>([&](int i) { return vshlq_n_s32(a.v[i], kBits); });
}
template <int kBits>
I32x16 shift_right_logical(I32x16 a) {
  return map_quads<I32x16>([&](int i) {
    return vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(a.v[i]), kBits));
  });
}
template <int kBits>
I32x16 shift_right(I32x16 a) {
  return map_quads<I32x16>([&](int i) { return vshrq_n_s32(a.v[i], kBits); });
}

inline void store_bf16_bits(I32x16 bits, void* address) {
  auto* p = static_cast<uint8_t*>(address);
  for (int i = 0; i < 4; ++i) {
    vst1_u8(p + 8 * i, vreinterpret_u8_u16(vmovn_u32(vreinterpretq_u32_s32(bits.v[i]))));
  }
}

// The fixed tree 16-8-4-2-1: lane i joins lane i + half, the lower lane on the left.
inline float reduce_add(F32x16 a) {
  const float32x4_t four = vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
// out[i] = reduce_add of the i-th argument.
inline void reduce_add_4(F32x16 a, F32x16 b, F32x16 c, F32x16 d, float* out) {
  const auto pair = [](F32x16 x) {
    const float32x4_t four = vaddq_f32(vaddq_f32(x.v[0], x.v[2]), vaddq_f32(x.v[1], x.v[3]));
    return vadd_f32(vget_low_f32(four), vget_high_f32(four));
  };
  const float32x4_t ab = vcombine_f32(pair(a), pair(b)), cd = vcombine_f32(pair(c), pair(d));
  vst1q_f32(out, vaddq_f32(vuzp1q_f32(ab, cd), vuzp2q_f32(ab, cd)));
}
inline float reduce_max(F32x16 a) {
  const auto larger = [](float32x4_t x, float32x4_t y) { return vbslq_f32(vcgtq_f32(x, y), x, y); };
  const float32x4_t four = larger(larger(a.v[0], a.v[2]), larger(a.v[1], a.v[3]));
  float lanes[4];
  vst1q_f32(lanes, four);
  const float x = lanes[0] > lanes[2] ? lanes[0] : lanes[2];
  const float y = lanes[1] > lanes[3] ? lanes[1] : lanes[3];
  return x > y ? x : y;
}

// Exact: sum of 32 products of an unsigned byte of at most 127 (read as signed) and a signed one.
inline int32_t dot_u8_s8_32(const uint8_t* a, const int8_t* b) {
  int32x4_t sum = vdupq_n_s32(0);
  sum = vdotq_s32(sum, vreinterpretq_s8_u8(vld1q_u8(a)), vld1q_s8(b));
  sum = vdotq_s32(sum, vreinterpretq_s8_u8(vld1q_u8(a + 16)), vld1q_s8(b + 16));
  return vaddvq_s32(sum);
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
