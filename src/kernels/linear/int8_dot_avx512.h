// int8_rows.h for AVX-512 with VNNI: a block of two outputs stays in registers while rows pass.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kOutputsTogether = 2;
inline constexpr int64_t kMostRows = 32;

template <typename Format>
[[gnu::always_inline]] inline void unpack_block(const uint8_t* packed, Bytes (&w)[8]) {
  if constexpr (Arranger<Format>::kFromBytes) {
    alignas(64) uint8_t bytes[kActivationBlock];
    Format::to_bytes(packed, bytes);
    Arranger<Format>::arrange(bytes, 0, w);
  } else {
    Arranger<Format>::arrange(packed, 0, w);
  }
}

template <int kOutputs, bool kFirst, typename Row>
[[gnu::always_inline]] inline void add_blocks(const Row (&rows)[kOutputs], int64_t g,
                                              int64_t present, const ActivationBlock* const* x,
                                              int64_t count, F32x16* acc) {
  using Format = typename Row::Format;
  using Factors = decltype(rows[0].factors(nullptr, 0, 0));
  Bytes w[kOutputs][8];
  Factors factors[kOutputs];
#pragma GCC unroll 2
  for (int o = 0; o < kOutputs; ++o) {
    uint8_t padded[Format::kBlockBytes];
    const uint8_t* packed = rows[o].packed(g, present, padded);
    unpack_block<Format>(packed, w[o]);
    factors[o] = rows[o].factors(packed, g, present);
  }
  for (int64_t r = 0; r < count; ++r) {
    // Two chains an output hide most of an instruction's latency.
    I32x16 chains[kOutputs][2];
#pragma GCC unroll 2
    for (int o = 0; o < kOutputs; ++o) chains[o][0] = chains[o][1] = I32x16::splat(0);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const Bytes q = Bytes::load(x[r]->q + 64 * (4 * half + i));
#pragma GCC unroll 2
        for (int o = 0; o < kOutputs; ++o) {
          chains[o][half] = add_dots(chains[o][half], w[o][4 * half + i], q);
        }
      }
    }
#pragma GCC unroll 2
    for (int o = 0; o < kOutputs; ++o) {
      F32x16& sum = acc[o * kMostRows + r];
      const F32x16 before = kFirst ? F32x16::zero() : sum;
      if constexpr (Format::kSums == 2) {
        sum = factors[o].join(chains[o], *x[r], before);
      } else {
        sum = factors[o].join({chains[o][0] + chains[o][1]}, *x[r], before);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
