// int8_block.h on vectors of bytes.
#pragma once

#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/simd/bytes_avx512.h"
#else
#include "kernels/simd/bytes_avx2.h"
#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kPartBytes = 4 * kPartLanes;

// Unpacked weights of at most 6 bits of one part: vector i meets bytes [64 i, 64 i + kPartBytes) of
// the part's activations.
template <int kBits>
struct WeightPart {
  Bytes v[8];

  // How many pair sums fit 16 bits together: 8 of 4-bit weights, 4 of 5 bits, 2 of 6 bits.
  static constexpr int kTogether = kBits <= 4 ? 8 : kBits == 5 ? 4 : 2;
  static_assert(kTogether * 2 * 127 * ((1 << kBits) - 1) <= 32767);

  LaneSums dot(const int8_t* x) const {
    const auto chunk = [&](int first) {
      PairSums sum = multiply_pairs(v[first], Bytes::load(x + 64 * first));
#pragma GCC unroll 8
      for (int i = first + 1; i < first + kTogether; ++i) {
        sum = sum + multiply_pairs(v[i], Bytes::load(x + 64 * i));
      }
      return widen(sum);
    };
    LaneSums total = chunk(0);
#pragma GCC unroll 8
    for (int first = kTogether; first < 8; first += kTogether) total = total + chunk(first);
    return total;
  }
};

// 4 bits: transposing the packed dwords makes the order of quantized_rows.h.
inline WeightPart<4> unpack_nibbles(const uint8_t* packed, int part) {
  Bytes rows[4];
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) rows[i] = Bytes::load(packed + 64 * i + kPartBytes * part);
  transpose_dwords(rows);
  WeightPart<4> result;
#pragma GCC unroll 8
  for (int d = 0; d < 4; ++d) {
    result.v[2 * d] = low_nibbles(rows[d]);
    result.v[2 * d + 1] = high_nibbles(rows[d]);
  }
  return result;
}

// Any width, from 16 groups of 32 bytes.
inline void arrange_bytes(const uint8_t* bytes, int part, Bytes (&out)[8]) {
  Bytes first[4], second[4];
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    load_halves(bytes + 128 * i + 2 * kPartBytes * part, first[i], second[i]);
  }
  transpose_dwords(first);
  transpose_dwords(second);
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    out[i] = first[i];
    out[4 + i] = second[i];
  }
}

// arrange(part, vectors) gives the 8 vectors of a part.
template <int kBits, typename Arrange>
[[gnu::always_inline]] inline void dot_arranged(const Arrange& arrange, const int8_t* const* x,
                                                int64_t rows, I32x16* out) {
  for (int part = 0; part < kParts; ++part) {
    const auto lanes_of = [&](int64_t row) {
      return reinterpret_cast<int32_t*>(out + row) + part * kPartLanes;
    };
    const auto source = [&](int64_t row) { return x[row] + part * kPartBytes; };
    if constexpr (kBits == 8) {
      // q = low + 16 * high: pair sums of whole bytes would not fit.
      Bytes whole[8];
      arrange(part, whole);
      WeightPart<4> low, high;
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        low.v[i] = low_nibbles(whole[i]);
        high.v[i] = high_nibbles(whole[i]);
      }
      for (int64_t r = 0; r < rows; ++r) {
        store(low.dot(source(r)) + times_16(high.dot(source(r))), lanes_of(r));
      }
    } else {
      WeightPart<kBits> weights;
      arrange(part, weights.v);
      for (int64_t r = 0; r < rows; ++r) store(weights.dot(source(r)), lanes_of(r));
    }
  }
}

template <int kBits>
[[gnu::always_inline]] inline void dot_bytes(const uint8_t* bytes, const int8_t* const* x,
                                             int64_t rows, I32x16* out) {
  dot_arranged<kBits>([&](int part, Bytes(&out_part)[8]) { arrange_bytes(bytes, part, out_part); },
                      x, rows, out);
}

// With first halves h of the activations' sums: first * h + second * (sum - h) is (first - second)
// * h + second * sum, so that only half of the activations are summed again.
template <int kBits>
[[gnu::always_inline]] inline void dot_halves(const uint8_t* bytes, const HalfScales& halves,
                                              const int8_t* const* x, const float* const* sums,
                                              int32_t zero, int64_t rows, I32x16* out) {
  static_assert(kBits == 6, "two pair sums of 6 bits fit 16 bits together");
  for (int part = 0; part < kParts; ++part) {
    Bytes w[8];
    arrange_bytes(bytes, part, w);
    const LaneSums first = load_lanes(halves.first + part * kPartLanes);
    const LaneSums second = load_lanes(halves.second + part * kPartLanes);
    const PairSums twice_first = in_both_halves(first);
    const PairSums twice_second = in_both_halves(second);
    const PairSums twice_difference = in_both_halves(first - second);
    for (int64_t r = 0; r < rows; ++r) {
      const int8_t* source = x[r] + part * kPartBytes;
      const auto pair = [&](int i) {
        return multiply_pairs(w[i], Bytes::load(source + 64 * i)) +
               multiply_pairs(w[i + 1], Bytes::load(source + 64 * i + 64));
      };
      PairSums h = multiply_pairs(ones(), Bytes::load(source));
#pragma GCC unroll 8
      for (int i = 1; i < 4; ++i) h = h + multiply_pairs(ones(), Bytes::load(source + 64 * i));
      const LaneSums dots =
          multiply_lanes(pair(0), twice_first) + multiply_lanes(pair(2), twice_first) +
          multiply_lanes(pair(4), twice_second) + multiply_lanes(pair(6), twice_second);
      const LaneSums shift =
          multiply_lanes(h, twice_difference) + second * whole_numbers(sums[r] + part * kPartLanes);
      store(dots - shift * splat_lanes(zero),
            reinterpret_cast<int32_t*>(out + r) + part * kPartLanes);
    }
  }
}

template <int kBits>
[[gnu::always_inline]] inline void dot_block(const uint8_t* packed, const int8_t* const* x,
                                             int64_t rows, I32x16* out) {
  if constexpr (kBits == 4) {
    for (int part = 0; part < kParts; ++part) {
      const WeightPart<4> weights = unpack_nibbles(packed, part);
      for (int64_t r = 0; r < rows; ++r) {
        store(weights.dot(x[r] + part * kPartBytes),
              reinterpret_cast<int32_t*>(out + r) + part * kPartLanes);
      }
    }
  } else if constexpr (kBits == 8) {
    dot_bytes<8>(packed, x, rows, out);
  } else {
    uint8_t staged[kActivationBlock];
    for (int g = 0; g < kGroupsPerBlock; ++g) {
      unpack_32<kBits>(packed + g * 4 * kBits, staged + 32 * g);
    }
    dot_bytes<kBits>(staged, x, rows, out);
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
