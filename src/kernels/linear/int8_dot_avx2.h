// int8_rows.h for AVX2: a block of one output in two parts.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kOutputsTogether = 1;
inline constexpr int64_t kMostRows = 16;

// Sums of vectors [kFirst, kFirst + kCount) of at most 6 bits against the part's activations.
template <int kBits, int kFirst, int kCount>
inline LaneSums dot_part(const Bytes (&w)[8], const int8_t* x) {
  // How many pair sums fit 16 bits together: 8 of 4-bit weights, 4 of 5 bits, 2 of 6 bits.
  constexpr int kFitting = kBits <= 4 ? 8 : kBits == 5 ? 4 : 2;
  constexpr int kTogether = kFitting < kCount ? kFitting : kCount;
  static_assert(kTogether * 2 * 127 * ((1 << kBits) - 1) <= 32767);
  const auto chunk = [&](int first) {
    PairSums sum = multiply_pairs(w[first], Bytes::load(x + 64 * first));
#pragma GCC unroll 8
    for (int i = first + 1; i < first + kTogether; ++i) {
      sum = sum + multiply_pairs(w[i], Bytes::load(x + 64 * i));
    }
    return widen(sum);
  };
  LaneSums total = chunk(kFirst);
#pragma GCC unroll 8
  for (int i = kFirst + kTogether; i < kFirst + kCount; i += kTogether) total = total + chunk(i);
  return total;
}

// The sums of one part of a block, for every row.
template <typename Format>
inline void dot_rows(const Bytes (&w)[8], int part, const ActivationBlock* const* x, int64_t count,
                     I32x16 (*dots)[Format::kSums]) {
  constexpr int kSums = Format::kSums;
  const auto source = [&](int64_t row) { return x[row]->q + part * kPartBytes; };
  const auto lanes = [&](int64_t row, int sum) {
    return reinterpret_cast<int32_t*>(&dots[row][sum]) + part * kPartLanes;
  };
  if constexpr (Format::kBits == 8) {
    // q = low + 16 * high: pair sums of whole bytes would not fit.
    static_assert(kSums == 1);
    Bytes low[8], high[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      low[i] = low_nibbles(w[i]);
      high[i] = high_nibbles(w[i]);
    }
    for (int64_t r = 0; r < count; ++r) {
      const LaneSums sum = dot_part<4, 0, 8>(low, source(r));
      store(sum + times_16(dot_part<4, 0, 8>(high, source(r))), lanes(r, 0));
    }
  } else {
    for (int64_t r = 0; r < count; ++r) {
      store(dot_part<Format::kBits, 0, 8 / kSums>(w, source(r)), lanes(r, 0));
      if constexpr (kSums == 2) {
        store(dot_part<Format::kBits, 4, 4>(w, source(r)), lanes(r, 1));
      }
    }
  }
}

template <int kOutputs, bool kFirst, typename Row>
[[gnu::always_inline]] inline void add_blocks(const Row (&rows)[kOutputs], int64_t g,
                                              int64_t present, const ActivationBlock* const* x,
                                              int64_t count, F32x16* acc) {
  static_assert(kOutputs == 1);
  using Format = typename Row::Format;
  uint8_t padded[Format::kBlockBytes];
  const uint8_t* packed = rows[0].packed(g, present, padded);
  const uint8_t* source = packed;
  uint8_t bytes[kActivationBlock];
  if constexpr (Arranger<Format>::kFromBytes) {
    Format::to_bytes(packed, bytes);
    source = bytes;
  }
  I32x16 dots[kMostRows][Format::kSums];
  for (int part = 0; part < kParts; ++part) {
    Bytes w[8];
    Arranger<Format>::arrange(source, part, w);
    dot_rows<Format>(w, part, x, count, dots);
  }
  const auto factors = rows[0].factors(packed, g, present);
  for (int64_t r = 0; r < count; ++r) {
    acc[r] = factors.join(dots[r], *x[r], kFirst ? F32x16::zero() : acc[r]);
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
