// int8_rows.h in portable C++: a block of one output and some rows.
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kOutputsTogether = 1;
inline constexpr int64_t kMostRows = 16;

template <int kOutputs, bool kFirst, typename Row>
inline void add_blocks(const Row (&rows)[kOutputs], int64_t g, int64_t present,
                       const ActivationBlock* const* x, int64_t count, F32x16* acc) {
  static_assert(kOutputs == 1);
  using Format = typename Row::Format;
  constexpr int64_t kPerSum = kActivationBlock / Format::kSums;
  uint8_t padded[Format::kBlockBytes], bytes[kActivationBlock], weights[kActivationBlock];
  const uint8_t* packed = rows[0].packed(g, present, padded);
  Format::to_bytes(packed, bytes);
  for (int64_t k = 0; k < kActivationBlock; ++k) weights[activation_place(k)] = bytes[k];
  const auto factors = rows[0].factors(packed, g, present);
  for (int64_t r = 0; r < count; ++r) {
    // Elements 0 to 15 of the groups are the first half of a block's q.
    int32_t sums[Format::kSums][kLanes] = {};
    for (int64_t i = 0; i < kActivationBlock; ++i) {
      sums[i / kPerSum][i / 4 % kLanes] += weights[i] * x[r]->q[i];
    }
    I32x16 dots[Format::kSums];
    for (int s = 0; s < Format::kSums; ++s) dots[s] = I32x16::load(sums[s]);
    acc[r] = factors.join(dots, *x[r], kFirst ? F32x16::zero() : acc[r]);
  }
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
