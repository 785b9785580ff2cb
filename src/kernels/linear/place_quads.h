// place_quads(q, to): element e of the integers q[i], which fit a byte, goes to byte e % 8 / 2 of
// lane i of the vector e / 8 * 2 + e % 2, 64 bytes a vector, 4 a lane: the order of
// quantized_rows.h, for half of four groups.
#pragma once

#include "kernels/linear/quantized_rows.h"
#include "kernels/simd/f32x16.h"

#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/simd/bytes_avx512.h"
#elif defined(LOCKSTEP_ISA_AVX2)
#include "kernels/simd/bytes_avx2.h"
#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

#if defined(LOCKSTEP_ISA_AVX512) || defined(LOCKSTEP_ISA_AVX2)

inline void place_quads(const I32x16 (&q)[4], int8_t* to) {
  const __m128i apart = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
  const auto row = [&](int i) { return _mm_shuffle_epi8(narrow_to_bytes(q[i]), apart); };
  const __m128i t0 = _mm_unpacklo_epi32(row(0), row(1)), t1 = _mm_unpackhi_epi32(row(0), row(1));
  const __m128i t2 = _mm_unpacklo_epi32(row(2), row(3)), t3 = _mm_unpackhi_epi32(row(2), row(3));
  const auto put = [&](int vector, __m128i lanes) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to + 64 * vector), lanes);
  };
  put(0, _mm_unpacklo_epi64(t0, t2));
  put(1, _mm_unpackhi_epi64(t0, t2));
  put(2, _mm_unpacklo_epi64(t1, t3));
  put(3, _mm_unpackhi_epi64(t1, t3));
}

#else

inline void place_quads(const I32x16 (&q)[4], int8_t* to) {
  for (int i = 0; i < 4; ++i) {
    int32_t values[kLanes];
    q[i].store(values);
    for (int e = 0; e < kLanes; ++e) {
      const int vector = e / 8 * 2 + e % 2;
      to[64 * vector + 4 * i + e % 8 / 2] = static_cast<int8_t>(values[e]);
    }
  }
}

#endif

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
