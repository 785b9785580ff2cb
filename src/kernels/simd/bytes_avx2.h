// Vectors of bytes for integer dots, AVX2: two parts of 8 lanes of 4 bytes.
#pragma once

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kParts = 2;
inline constexpr int kPartLanes = 8;

struct Bytes {
  __m256i v;
  static Bytes load(const void* address) {
    return {_mm256_loadu_si256(static_cast<const __m256i_u*>(address))};
  }
};

inline Bytes low_nibbles(Bytes a) { return {_mm256_and_si256(a.v, _mm256_set1_epi8(0x0f))}; }
inline Bytes high_nibbles(Bytes a) { return low_nibbles({_mm256_srli_epi16(a.v, 4)}); }

// Four vectors, each holding 4 dwords in each 16 bytes: dword d of all four becomes vector d.
inline void transpose_dwords(Bytes (&a)[4]) {
  const __m256i t0 = _mm256_unpacklo_epi32(a[0].v, a[1].v);
  const __m256i t1 = _mm256_unpackhi_epi32(a[0].v, a[1].v);
  const __m256i t2 = _mm256_unpacklo_epi32(a[2].v, a[3].v);
  const __m256i t3 = _mm256_unpackhi_epi32(a[2].v, a[3].v);
  a[0].v = _mm256_unpacklo_epi64(t0, t2);
  a[1].v = _mm256_unpackhi_epi64(t0, t2);
  a[2].v = _mm256_unpacklo_epi64(t1, t3);
  a[3].v = _mm256_unpackhi_epi64(t1, t3);
}

// Of 2 groups of 32 bytes, their first halves and their second halves; in each 16 bytes the even
// and the odd ones of every 8 are drawn apart: 0 2 4 6, 1 3 5 7, 8 10 12 14, 9 11 13 15.
inline void load_halves(const uint8_t* groups, Bytes& first, Bytes& second) {
  const __m256i a = Bytes::load(groups).v;
  const __m256i b = Bytes::load(groups + 32).v;
  const __m256i apart = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
  first.v = _mm256_shuffle_epi8(_mm256_permute2x128_si256(a, b, 0x20), apart);
  second.v = _mm256_shuffle_epi8(_mm256_permute2x128_si256(a, b, 0x31), apart);
}

inline Bytes draw_apart(Bytes a) {
  const __m256i apart = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
  return {_mm256_shuffle_epi8(a.v, apart)};
}
// 16 bytes at each of `address`, `address` + stride ..., drawn apart as above.
inline Bytes load_sixteens(const uint8_t* address, int stride) {
  const auto* first = reinterpret_cast<const __m128i_u*>(address);
  const auto* second = reinterpret_cast<const __m128i_u*>(address + stride);
  return draw_apart({_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)),
                                             _mm_loadu_si128(second), 1)});
}
// Of the 16-byte quarters a0 a1 ... of a and b: a0 b0 (a2 b2), and a1 b1 (a3 b3).
inline void interleave_quarters(Bytes a, Bytes b, Bytes& even, Bytes& odd) {
  even.v = _mm256_permute2x128_si256(a.v, b.v, 0x20);
  odd.v = _mm256_permute2x128_si256(a.v, b.v, 0x31);
}
// Of 64 bytes, 16 a quarter, the low (part 0) or high (part 1) nibbles of quarters 0 and 2 in
// `even`, those of quarters 1 and 3 in `odd`.
inline void split_quarters(const uint8_t* bytes, int part, Bytes& even, Bytes& odd) {
  const auto nibbles = [&](int at) {
    const Bytes all = Bytes::load(bytes + at);
    return part == 0 ? low_nibbles(all).v : high_nibbles(all).v;
  };
  const __m256i first = nibbles(0), second = nibbles(32);
  even.v = _mm256_permute2x128_si256(first, second, 0x20);
  odd.v = _mm256_permute2x128_si256(first, second, 0x31);
}
// Bits 2 t and 2 t + 1 of 16 bytes, times 16, in quarter t - 2 part.
inline Bytes spread_crumbs_apart(const uint8_t* bytes, int part) {
  const __m256i twice =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(bytes)));
  const __m256i moved = part == 0
                            ? _mm256_sllv_epi32(twice, _mm256_setr_epi32(4, 4, 4, 4, 2, 2, 2, 2))
                            : _mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2));
  return {_mm256_and_si256(moved, _mm256_set1_epi8(0x30))};
}
inline Bytes operator|(Bytes a, Bytes b) { return {_mm256_or_si256(a.v, b.v)}; }
inline Bytes operator^(Bytes a, Bytes b) { return {_mm256_xor_si256(a.v, b.v)}; }
inline Bytes splat_bytes(int value) { return {_mm256_set1_epi8(static_cast<char>(value))}; }

// Sums of two neighbouring products in 16 bits: |sum| <= 2 * 127 * max(a), exact while it fits.
struct PairSums {
  __m256i v;
};
inline PairSums multiply_pairs(Bytes a_unsigned, Bytes b_signed) {
  return {_mm256_maddubs_epi16(a_unsigned.v, b_signed.v)};
}
inline PairSums operator+(PairSums a, PairSums b) { return {_mm256_add_epi16(a.v, b.v)}; }

struct LaneSums {
  __m256i v;
};
inline LaneSums widen(PairSums a) { return {_mm256_madd_epi16(a.v, _mm256_set1_epi16(1))}; }
inline LaneSums operator+(LaneSums a, LaneSums b) { return {_mm256_add_epi32(a.v, b.v)}; }
inline LaneSums times_16(LaneSums a) { return {_mm256_slli_epi32(a.v, 4)}; }
inline void store(LaneSums a, int32_t* address) {
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(address), a.v);
}

// Integers that fit a byte.
inline __m128i narrow_to_bytes(I32x16 a) {
  const __m256i pairs = _mm256_permute4x64_epi64(_mm256_packs_epi32(a.lo, a.hi), 0xd8);
  return _mm_packs_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
