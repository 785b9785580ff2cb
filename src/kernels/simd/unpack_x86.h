// unpack.h for AVX2 and above.
#pragma once

#include <cstring>

#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// For 3, 5 and 6 bits each value is cut out of a 16-bit window that starts at its first byte: a
// multiplication moves it to the window's top, a shift brings it down alone. Values 0..15 come
// from the start of the 4 * kBits bytes, values 16..31 from a load that ends with them.
template <int kBits>
struct Windows {
  static constexpr int kLoaded = kBits == 3 ? 8 : 16;
  static constexpr int kSecond = 4 * kBits - kLoaded;

  alignas(32) uint8_t bytes[2][32] = {};
  alignas(32) uint16_t factors[2][16] = {};

  constexpr Windows() {
    for (int i = 0; i < 32; ++i) {
      const int byte = kBits * i / 8 - (i < 16 ? 0 : kSecond);
      const int shift = kBits * i % 8;
      bytes[i / 16][2 * (i % 16)] = static_cast<uint8_t>(byte);
      // Behind the loaded bytes nothing is needed: the value ends before.
      bytes[i / 16][2 * (i % 16) + 1] = byte + 1 < 16 ? static_cast<uint8_t>(byte + 1) : 0x80;
      factors[i / 16][i % 16] = static_cast<uint16_t>(1 << (16 - kBits - shift));
    }
  }

  static __m128i load(const uint8_t* p) {
    if constexpr (kLoaded == 8) return _mm_loadu_si64(p);
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p));
  }
  // Values 16 * half .. 16 * half + 15 as 16-bit numbers.
  __m256i cut(const uint8_t* packed, int half) const {
    const __m256i source = _mm256_broadcastsi128_si256(load(packed + half * kSecond));
    const auto* shuffle = reinterpret_cast<const __m256i*>(bytes[half]);
    const auto* factor = reinterpret_cast<const __m256i*>(factors[half]);
    const __m256i window = _mm256_shuffle_epi8(source, _mm256_load_si256(shuffle));
    return _mm256_srli_epi16(_mm256_mullo_epi16(window, _mm256_load_si256(factor)), 16 - kBits);
  }
};

template <int kBits>
constexpr Windows<kBits> kWindows;

inline __m256i spread_nibbles(__m128i packed) {
  const __m256i wide = _mm256_cvtepu8_epi16(packed);
  return _mm256_and_si256(_mm256_or_si256(wide, _mm256_slli_epi16(wide, 4)),
                          _mm256_set1_epi8(0x0f));
}

inline __m256i spread_crumbs(__m128i packed) {
  const __m128i wide = _mm_cvtepu8_epi16(packed);
  const __m128i nibbles =
      _mm_and_si128(_mm_or_si128(wide, _mm_slli_epi16(wide, 4)), _mm_set1_epi8(0x0f));
  const __m256i wider = _mm256_cvtepu8_epi16(nibbles);
  return _mm256_and_si256(_mm256_or_si256(wider, _mm256_slli_epi16(wider, 6)),
                          _mm256_set1_epi8(0x03));
}

template <int kBits>
inline __m256i unpack_32_bytes(const uint8_t* packed) {
  if constexpr (kBits == 2) {
    return spread_crumbs(_mm_loadu_si64(packed));
  } else if constexpr (kBits == 4) {
    return spread_nibbles(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(packed)));
  } else if constexpr (kBits == 8) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(packed));
  } else {
    const auto& windows = kWindows<kBits>;
    const __m256i pairs = _mm256_packus_epi16(windows.cut(packed, 0), windows.cut(packed, 1));
    return _mm256_permute4x64_epi64(pairs, 0xd8);
  }
}

template <int kBits>
inline void unpack_32(const uint8_t* packed, uint8_t* out) {
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(out), unpack_32_bytes<kBits>(packed));
}

#if defined(LOCKSTEP_ISA_AVX512)

template <int kBits>
inline void unpack_32_floats(const uint8_t* packed, F32x16& first, F32x16& second) {
  const __m256i bytes = unpack_32_bytes<kBits>(packed);
  first.v = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm256_castsi256_si128(bytes)));
  second.v = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm256_extracti128_si256(bytes, 1)));
}

// vpermps looks up 16 values by the low 4 bits of each lane and ignores the rest. A table for 2
// bits repeats itself, whatever the next value's bits.
template <int kBits>
constexpr bool kHasTables = kBits == 2 || kBits == 4;

template <int kBits>
inline F32x16 table_of_q() {
  constexpr int kMask = (1 << kBits) - 1;
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return {_mm512_cvtepi32_ps(_mm512_and_si512(lane, _mm512_set1_epi32(kMask)))};
}

template <int kBits>
inline void look_up_32(const uint8_t* packed, F32x16 table, F32x16& first, F32x16& second) {
  constexpr int kPerWord = 32 / kBits;  // 8 or 16 values in 32 bits
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i word = _mm512_srli_epi32(lane, kPerWord == 8 ? 3 : 4);
  const __m512i shift = _mm512_mullo_epi32(_mm512_and_si512(lane, _mm512_set1_epi32(kPerWord - 1)),
                                           _mm512_set1_epi32(kBits));
  const __m512i second_word = _mm512_add_epi32(word, _mm512_set1_epi32(16 / kPerWord));
  const __m512i words = _mm512_zextsi128_si512(
      kBits == 2 ? _mm_loadu_si64(packed)
                 : _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(packed)));
  const auto look_up = [&](__m512i words_of_lanes) {
    const __m512i spread = _mm512_permutexvar_epi32(words_of_lanes, words);
    return F32x16{_mm512_permutexvar_ps(_mm512_srlv_epi32(spread, shift), table.v)};
  };
  first = look_up(word);
  second = look_up(second_word);
}

#else

inline __m256 bytes_to_floats(__m128i low_eight) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(low_eight));
}

// 4-bit words are spread by shifts, others through bytes.
template <int kBits>
inline void unpack_32_floats(const uint8_t* packed, F32x16& first, F32x16& second) {
  if constexpr (kBits == 4) {
    const __m256i shift = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    const auto eight = [&](int i) {
      int32_t word;
      std::memcpy(&word, packed + 4 * i, sizeof(word));
      const __m256i spread = _mm256_srlv_epi32(_mm256_set1_epi32(word), shift);
      return _mm256_cvtepi32_ps(_mm256_and_si256(spread, _mm256_set1_epi32(15)));
    };
    first = {eight(0), eight(1)};
    second = {eight(2), eight(3)};
  } else {
    const __m256i bytes = unpack_32_bytes<kBits>(packed);
    const __m128i low = _mm256_castsi256_si128(bytes);
    const __m128i high = _mm256_extracti128_si256(bytes, 1);
    first = {bytes_to_floats(low), bytes_to_floats(_mm_srli_si128(low, 8))};
    second = {bytes_to_floats(high), bytes_to_floats(_mm_srli_si128(high, 8))};
  }
}

template <int kBits>
constexpr bool kHasTables = false;
template <int kBits>
F32x16 table_of_q();
template <int kBits>
void look_up_32(const uint8_t* packed, F32x16 table, F32x16& first, F32x16& second);

#endif

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
