// Held against the C library's long double functions, which on x86-64 have 64 bits.
#include "base/real_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A seeded number in [0, 1).
double uniform(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  uint64_t z = state ^ (state >> 33);
  z *= 0xff51afd7ed558ccdu;
  return static_cast<double>((z ^ (z >> 33)) >> 11) * 0x1p-53;
}

double ulps(double got, long double want) {
  const auto rounded = static_cast<double>(want);
  if (got == rounded) return 0.0;
  const double step = std::nextafter(std::fabs(rounded), kInfinity) - std::fabs(rounded);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / step);
}

// The worst error of `function` over seeded points of [low, high], in units of the last place.
template <typename Function, typename Truth>
double worst_ulps(const Function& function, const Truth& truth, double low, double high) {
  uint64_t state = 17;
  double worst = 0.0;
  for (int i = 0; i < 400000; ++i) {
    const double x = low + (high - low) * uniform(state);
    const double error = ulps(function(x), truth(static_cast<long double>(x)));
    worst = error <= worst ? worst : error;  // a NaN error stays
  }
  return worst;
}

long double long_exp(long double x) { return std::exp(x); }
long double long_log(long double x) { return std::log(x); }
long double long_log1p(long double x) { return std::log1p(x); }

TEST(RealMath, ExpIsWithinOneUlp) {
  EXPECT_LE(worst_ulps(real_math::exp, long_exp, -1.0, 1.0), 1.0);
  EXPECT_LE(worst_ulps(real_math::exp, long_exp, -708.0, 709.7), 1.0);
  EXPECT_LE(worst_ulps(real_math::exp, long_exp, -745.0, -708.0), 1.0);  // subnormal results
  EXPECT_EQ(real_math::exp(0.0), 1.0);
  EXPECT_EQ(real_math::exp(-0.0), 1.0);
  EXPECT_EQ(real_math::exp(710.0), kInfinity);
  EXPECT_EQ(real_math::exp(kInfinity), kInfinity);
  EXPECT_EQ(real_math::exp(-kInfinity), 0.0);
  EXPECT_EQ(real_math::exp(-800.0), 0.0);
  EXPECT_TRUE(std::isnan(real_math::exp(kNan)));
}

TEST(RealMath, LogIsWithinOneUlp) {
  EXPECT_LE(worst_ulps(real_math::log, long_log, 0.5, 2.0), 1.0);
  EXPECT_LE(worst_ulps(real_math::log, long_log, 0.999, 1.001), 1.0);
  EXPECT_LE(worst_ulps(real_math::log, long_log, 1e-6, 1e7), 1.0);
  EXPECT_LE(worst_ulps(real_math::log, long_log, 1e-320, 1e-307), 1.0);
  EXPECT_LE(worst_ulps(real_math::log, long_log, 1e300, 1.7e308), 1.0);
  EXPECT_EQ(real_math::log(1.0), 0.0);
  EXPECT_EQ(real_math::log(0.0), -kInfinity);
  EXPECT_EQ(real_math::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(real_math::log(-1.0)));
  EXPECT_TRUE(std::isnan(real_math::log(kNan)));
}

TEST(RealMath, Log1pIsWithinTwoUlp) {
  for (double range : {1e-300, 1e-17, 1e-10, 1e-4, 0.1, 0.9}) {
    EXPECT_LE(worst_ulps(real_math::log1p, long_log1p, -range, range), 2.0) << range;
  }
  EXPECT_LE(worst_ulps(real_math::log1p, long_log1p, 0.0, 1e6), 2.0);
  EXPECT_EQ(real_math::log1p(0.0), 0.0);
  EXPECT_EQ(real_math::log1p(-1.0), -kInfinity);
  EXPECT_EQ(real_math::log1p(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(real_math::log1p(-1.5)));
}

TEST(RealMath, PowIsWithinTwoUlpForRopeFrequencies) {
  double worst = 0.0;
  for (double theta : {1e4, 1e5, 1e6, 1e7, 5e8, 12345.678}) {
    for (int rotary = 2; rotary <= 256; rotary += 2) {
      for (int i = 0; i < rotary / 2; ++i) {
        const double y = -2.0 * i / rotary;
        const long double want =
            std::pow(static_cast<long double>(theta), static_cast<long double>(y));
        worst = std::fmax(worst, ulps(real_math::pow(theta, y), want));
      }
    }
  }
  EXPECT_LE(worst, 1.0);
  uint64_t state = 5;
  for (int i = 0; i < 400000; ++i) {
    const double x = 1e-3 + 1e3 * uniform(state);
    const double y = -9.0 + 18.0 * uniform(state);
    const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    worst = std::fmax(worst, ulps(real_math::pow(x, y), want));
  }
  EXPECT_LE(worst, 2.0);
}

TEST(RealMath, PowHandlesItsEdges) {
  EXPECT_EQ(real_math::pow(0.0, 2.0), 0.0);
  EXPECT_EQ(real_math::pow(0.0, -2.0), kInfinity);
  EXPECT_EQ(real_math::pow(kInfinity, 2.0), kInfinity);
  EXPECT_EQ(real_math::pow(kInfinity, -2.0), 0.0);
  EXPECT_EQ(real_math::pow(5.0, 0.0), 1.0);
  EXPECT_EQ(real_math::pow(10.0, 400.0), kInfinity);
  EXPECT_EQ(real_math::pow(10.0, -400.0), 0.0);
  EXPECT_TRUE(std::isnan(real_math::pow(-2.0, 0.5)));
  EXPECT_TRUE(std::isnan(real_math::pow(2.0, kNan)));
}

TEST(RealMath, SinAndCosAreExactToTheirBoundUpTo1e7) {
  uint64_t state = 23;
  double worst = 0.0;
  for (double range : {1e-8, 1.0, 10.0, 1e3, 1e6, 1e7}) {
    for (int i = 0; i < 300000; ++i) {
      const double x = range * (2.0 * uniform(state) - 1.0);
      const auto wide = static_cast<long double>(x);
      worst = std::fmax(worst, static_cast<double>(std::fabs(real_math::sin(x) - std::sin(wide))));
      worst = std::fmax(worst, static_cast<double>(std::fabs(real_math::cos(x) - std::cos(wide))));
    }
  }
  // Multiples of pi / 2, where the reduction cancels most.
  for (int n = -6000000; n <= 6000000; n += 7) {
    const double x = n * 1.5707963267948966;
    const auto wide = static_cast<long double>(x);
    worst = std::fmax(worst, static_cast<double>(std::fabs(real_math::sin(x) - std::sin(wide))));
    worst = std::fmax(worst, static_cast<double>(std::fabs(real_math::cos(x) - std::cos(wide))));
  }
  EXPECT_LE(worst, 2e-16);
  EXPECT_EQ(real_math::sin(0.0), 0.0);
  EXPECT_EQ(real_math::cos(0.0), 1.0);
  EXPECT_TRUE(std::isnan(real_math::sin(1.1e7)));
  EXPECT_TRUE(std::isnan(real_math::cos(kInfinity)));
  EXPECT_TRUE(std::isnan(real_math::cos(kNan)));
}

}  // namespace
}  // namespace lockstep
