#include "sampling/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace lockstep {
namespace {

// The known answers that the authors of Philox publish with their library.
TEST(Noise, PhiloxGivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, ~uint64_t{0}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Noise, EveryPartOfTheKeyMatters) {
  const NoiseKey base{1, 2, 3, 4};
  std::set<uint64_t> seen = {uniform_odd53(base, 5), uniform_odd53(base, 6)};
  for (NoiseKey key : {NoiseKey{2, 2, 3, 4}, NoiseKey{1, 3, 3, 4}, NoiseKey{1, 2, 4, 4},
                       NoiseKey{1, 2, 3, 5}, NoiseKey{uint64_t{1} << 32 | 1, 2, 3, 4}}) {
    seen.insert(uniform_odd53(key, 5));
  }
  EXPECT_EQ(seen.size(), 7u);
}

TEST(Noise, GumbelIsFiniteAndWithinItsBoundEverywhere) {
  const uint64_t last = (uint64_t{1} << 53) - 1;
  for (int bit = 0; bit < 53; ++bit) {
    for (const uint64_t odd53 : {(uint64_t{1} << bit) | 1, ((uint64_t{2} << bit) - 1) | 1}) {
      const double noise = gumbel(odd53);
      ASSERT_TRUE(std::isfinite(noise)) << odd53;
      ASSERT_LE(noise, gumbel_bound(odd53)) << odd53;
      ASSERT_NEAR(noise, -std::log(-std::log1p(-std::ldexp(double(odd53), -53))), 1e-12) << odd53;
    }
  }
  EXPECT_NEAR(gumbel(1), 36.74, 0.01);
  EXPECT_NEAR(gumbel(last), -3.61, 0.01);
}

TEST(Noise, GumbelHasItsMeanAndVariance) {
  const int count = 200000;
  double sum = 0.0, squares = 0.0;
  for (int token = 0; token < count; ++token) {
    const double noise = gumbel(uniform_odd53({7, 0, 11, 0}, static_cast<uint32_t>(token)));
    sum += noise;
    squares += noise * noise;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 0.5772, 4 * 1.2825 / std::sqrt(count));
  EXPECT_NEAR(squares / count - mean * mean, 1.6449, 0.03);
}

}  // namespace
}  // namespace lockstep
