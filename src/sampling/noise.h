// Noise as a function of what it is for, never of what was drawn before: the same draw gets the
// same noise in a batch, in a draft window and after a resumed prefix (docs/numerics.md, rule 25).
#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
using PhiloxBlock = std::array<uint32_t, 4>;
PhiloxBlock philox4x32(PhiloxBlock counter, uint64_t key);

struct NoiseKey {
  uint64_t seed = 0;
  uint32_t reply_index = 0;
  uint32_t position = 0;  // absolute, of the token that is drawn
  uint32_t draw = 0;      // tells several draws at one position apart
};

// A number v = (2 j + 1) / 2^53 in (0, 1), evenly distributed, for one token; returns 2 j + 1.
uint64_t uniform_odd53(const NoiseKey& key, uint32_t token);

// -ln(-ln(1 - v)) of v = odd53 / 2^53: standard Gumbel noise, from -3.61 to 36.8.
double gumbel(uint64_t odd53);

// A number that gumbel(odd53) does not exceed, without a logarithm: -ln(1 - v) >= v, so the noise
// is at most -ln v.
double gumbel_bound(uint64_t odd53);

}  // namespace lockstep
