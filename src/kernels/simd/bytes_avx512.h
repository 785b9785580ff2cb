// Vectors of bytes for integer dots, AVX-512: one part holds all 16 lanes of 4 bytes.
#pragma once

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kParts = 1;
inline constexpr int kPartLanes = 16;

struct Bytes {
  __m512i v;
  static Bytes load(const void* address) { return {_mm512_loadu_si512(address)}; }
};

inline Bytes low_nibbles(Bytes a) { return {_mm512_and_si512(a.v, _mm512_set1_epi8(0x0f))}; }
inline Bytes high_nibbles(Bytes a) { return low_nibbles({_mm512_srli_epi16(a.v, 4)}); }

// Four vectors, each holding 4 dwords in each 16 bytes: dword d of all four becomes vector d.
inline void transpose_dwords(Bytes (&a)[4]) {
  const __m512i t0 = _mm512_unpacklo_epi32(a[0].v, a[1].v);
  const __m512i t1 = _mm512_unpackhi_epi32(a[0].v, a[1].v);
  const __m512i t2 = _mm512_unpacklo_epi32(a[2].v, a[3].v);
  const __m512i t3 = _mm512_unpackhi_epi32(a[2].v, a[3].v);
  a[0].v = _mm512_unpacklo_epi64(t0, t2);
  a[1].v = _mm512_unpackhi_epi64(t0, t2);
  a[2].v = _mm512_unpacklo_epi64(t1, t3);
  a[3].v = _mm512_unpackhi_epi64(t1, t3);
}

// Of 4 groups of 32 bytes, their first halves and their second halves; in each 16 bytes the even
// and the odd ones of every 8 are drawn apart: 0 2 4 6, 1 3 5 7, 8 10 12 14, 9 11 13 15.
inline void load_halves(const uint8_t* groups, Bytes& first, Bytes& second) {
  const __m512i a = _mm512_loadu_si512(groups);
  const __m512i b = _mm512_loadu_si512(groups + 64);
  const __m512i apart =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
  first.v = _mm512_shuffle_epi8(_mm512_shuffle_i64x2(a, b, 0x88), apart);
  second.v = _mm512_shuffle_epi8(_mm512_shuffle_i64x2(a, b, 0xdd), apart);
}

inline Bytes draw_apart(Bytes a) {
  const __m512i apart =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
  return {_mm512_shuffle_epi8(a.v, apart)};
}
// 16 bytes at each of `address`, `address` + stride ..., drawn apart as above.
inline Bytes load_sixteens(const uint8_t* address, int stride) {
  const auto piece = [&](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(address + i * stride));
  };
  __m512i v = _mm512_zextsi128_si512(piece(0));
  v = _mm512_inserti32x4(v, piece(1), 1);
  v = _mm512_inserti32x4(v, piece(2), 2);
  return draw_apart({_mm512_inserti32x4(v, piece(3), 3)});
}
// Of the 16-byte quarters a0 a1 ... of a and b: a0 b0 (a2 b2), and a1 b1 (a3 b3).
inline void interleave_quarters(Bytes a, Bytes b, Bytes& even, Bytes& odd) {
  even.v = _mm512_permutex2var_epi64(a.v, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b.v);
  odd.v = _mm512_permutex2var_epi64(a.v, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b.v);
}
// Of 64 bytes, 16 a quarter: the low nibbles of quarters 0 and 2 and the high nibbles of quarters 0
// and 2 in `even`, those of quarters 1 and 3 in `odd`.
inline void split_quarters(const uint8_t* bytes, int, Bytes& even, Bytes& odd) {
  const Bytes all = Bytes::load(bytes);
  const __m512i low = low_nibbles(all).v, high = high_nibbles(all).v;
  even.v = _mm512_shuffle_i64x2(low, high, 0x88);
  odd.v = _mm512_shuffle_i64x2(low, high, 0xdd);
}
// Bits 2 t and 2 t + 1 of 16 bytes, times 16, in quarter t.
inline Bytes spread_crumbs_apart(const uint8_t* bytes, int) {
  const __m512i four =
      _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(bytes)));
  const __m512i left = _mm512_setr_epi32(4, 4, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0, 30, 30, 30, 30);
  return {_mm512_and_si512(_mm512_rolv_epi32(four, left), _mm512_set1_epi8(0x30))};
}
inline Bytes operator|(Bytes a, Bytes b) { return {_mm512_or_si512(a.v, b.v)}; }
inline Bytes operator^(Bytes a, Bytes b) { return {_mm512_xor_si512(a.v, b.v)}; }
inline Bytes splat_bytes(int value) { return {_mm512_set1_epi8(static_cast<char>(value))}; }

// sum + 4 products of each lane, exact: 4 * 255 * 128 a step.
inline I32x16 add_dots(I32x16 sum, Bytes a_unsigned, Bytes b_signed) {
  return {_mm512_dpbusd_epi32(sum.v, a_unsigned.v, b_signed.v)};
}

// Integers that fit a byte.
inline __m128i narrow_to_bytes(I32x16 a) { return _mm512_cvtepi32_epi8(a.v); }

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
