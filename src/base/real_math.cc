#include "base/real_math.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lockstep::real_math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ln 2 in two parts; the first has 41 bits, so its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fefa3p-1;
constexpr double kLn2Low = 0x1.3de6af278ece6p-42;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
// pi / 2 in three parts; the first two have 28 bits, so their products with n < 2^24 are exact.
constexpr double kHalfPi1 = 0x1.921fb54p+0;
constexpr double kHalfPi2 = 0x1.10b461p-30;
constexpr double kHalfPi3 = 0x1.a62633145c06ep-58;
constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;
constexpr double kMaxAngle = 1e7;

// An unevaluated sum, |low| at most half a unit in the last place of high.
struct Pair {
  double high = 0.0;
  double low = 0.0;
};

// Knuth: high + low = a + b exactly.
Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// Dekker: high + low = a * b exactly, for factors far from overflow and underflow.
Pair two_product(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1.0;
  const double a_high = a * kSplit - (a * kSplit - a);
  const double b_high = b * kSplit - (b * kSplit - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

// Highest power first.
template <size_t kCount>
double polynomial(const double (&coefficients)[kCount], double x) {
  double sum = coefficients[0];
  for (size_t i = 1; i < kCount; ++i) sum = sum * x + coefficients[i];
  return sum;
}

// Rounds to an integer, ties to even, for |x| < 2^51.
double round_to_integer(double x) {
  constexpr double kMagic = 0x1.8p52;
  return (x + kMagic) - kMagic;
}

// x * 2^n for a normal x near 1 and any n; rounds once where the result is subnormal.
double scale_by_power_of_two(double x, int64_t n) {
  const auto power = [](int64_t e) {
    return std::bit_cast<double>(static_cast<uint64_t>(e + 1023) << 52);
  };
  if (n > 1023) return x * power(1023) * power(n - 1023);
  if (n < -1022) return x * power(n + 1000) * power(-1000);
  return x * power(n);
}

// e^(x.high + x.low) for finite x. The Taylor polynomial of degree 13 on |r| <= ln 2 / 2 leaves
// 4e-18.
double exp_pair(Pair x) {
  if (x.high > 710.0) return kInfinity;
  if (x.high < -746.0) return 0.0;
  const double n = round_to_integer(x.high * kInverseLn2);
  const Pair r = two_sum(x.high - n * kLn2High, x.low - n * kLn2Low);
  constexpr double kTaylor[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                                1.0 / 3628800.0,    1.0 / 362880.0,    1.0 / 40320.0,
                                1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,
                                1.0 / 24.0,         1.0 / 6.0,         1.0 / 2.0};
  const double p = polynomial(kTaylor, r.high);
  const double tail = r.high * r.high * p + r.low;
  const Pair sum = two_sum(1.0, r.high);
  return scale_by_power_of_two(sum.high + (sum.low + tail), static_cast<int64_t>(n));
}

// exponent * ln 2 + ln(1 + f) = exponent * ln 2 + 2 atanh(s), s = f / (2 + f), for f in
// [-0.3, 0.42]. 2 s is kept as a pair; the rest of the series, to s^23 (|s| < 0.18), is less than a
// hundredth of it.
Pair log_pair(double f, double exponent) {
  const Pair d = two_sum(2.0, f);
  const double s = f / d.high;
  const Pair back = two_product(s, d.high);
  const double s_low = (((f - back.high) - back.low) - s * d.low) / d.high;
  const double t = s * s;
  constexpr double kSeries[] = {2.0 / 23.0, 2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0,
                                2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0,
                                2.0 / 7.0,  2.0 / 5.0,  2.0 / 3.0};
  const double p = polynomial(kSeries, t);
  const Pair high = two_sum(exponent * kLn2High, 2.0 * s);
  return two_sum(high.high, high.low + ((p * t * s + 2.0 * s_low) + exponent * kLn2Low));
}

// ln x for positive, finite x.
Pair log_pair(double x) {
  int64_t exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<uint64_t>(x);
  // Adding the distance from sqrt(1/2) to 1 moves the border of the exponent to sqrt(1/2).
  const uint64_t shifted = bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  exponent += static_cast<int64_t>(shifted >> 52) - 1023;
  const double m = std::bit_cast<double>((shifted & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
  return log_pair(m - 1.0, static_cast<double>(exponent));
}

// x = quadrant * pi / 2 + r, |r| <= pi / 4 and a little.
struct Reduced {
  Pair r;
  int quadrant = 0;  // 0 to 3
};

Reduced reduce_angle(double x) {
  const double n = round_to_integer(x * kInverseHalfPi);
  const Pair r = two_sum(x - n * kHalfPi1, -(n * kHalfPi2));
  return {two_sum(r.high, r.low - n * kHalfPi3), static_cast<int>(static_cast<int64_t>(n) & 3)};
}

// Taylor to r^17 on |r| <= pi / 4: the rest is below 1e-19.
double sin_reduced(Pair r) {
  const double t = r.high * r.high;
  constexpr double kTaylor[] = {
      1.0 / 355687428096000.0, 1.0 / -1307674368000.0, 1.0 / 6227020800.0, 1.0 / -39916800.0,
      1.0 / 362880.0,          1.0 / -5040.0,          1.0 / 120.0,        1.0 / -6.0};
  const double p = polynomial(kTaylor, t);
  return r.high + (p * t * r.high + r.low * (1.0 - 0.5 * t));
}

// Taylor to r^18.
double cos_reduced(Pair r) {
  const double t = r.high * r.high;
  constexpr double kTaylor[] = {
      1.0 / -6402373705728000.0, 1.0 / 20922789888000.0, 1.0 / -87178291200.0, 1.0 / 479001600.0,
      1.0 / -3628800.0,          1.0 / 40320.0,          1.0 / -720.0,         1.0 / 24.0};
  const double p = polynomial(kTaylor, t);
  const Pair head = two_sum(1.0, -0.5 * t);
  return head.high + (head.low + (p * t * t - r.low * r.high));
}

}  // namespace

double exp(double x) {
  if (x != x) return x;
  return exp_pair({x, 0.0});
}

double log(double x) {
  if (x != x || x == kInfinity) return x;
  if (x <= 0.0) return x == 0.0 ? -kInfinity : kNan;
  const Pair result = log_pair(x);
  return result.high + result.low;
}

double log1p(double x) {
  if (x != x || x == kInfinity) return x;
  if (x <= -1.0) return x == -1.0 ? -kInfinity : kNan;
  if (x > -0x1p-54 && x < 0x1p-54) return x;
  if (x > -0.29 && x < 0.41) {
    const Pair result = log_pair(x, 0.0);
    return result.high + result.low;
  }
  const Pair sum = two_sum(1.0, x);
  const Pair result = log_pair(sum.high);
  return result.high + (result.low + sum.low / sum.high);
}

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y || x < 0.0) return kNan;
  if (x == 0.0 || x == kInfinity) return (x == 0.0) == (y > 0.0) ? 0.0 : kInfinity;
  const Pair logarithm = log_pair(x);
  const double rough = logarithm.high * y;
  if (!(rough > -1000.0 && rough < 1000.0)) return rough > 0.0 ? kInfinity : 0.0;
  const Pair product = two_product(logarithm.high, y);
  return exp_pair({product.high, product.low + logarithm.low * y});
}

double sin(double x) {
  if (!(x >= -kMaxAngle && x <= kMaxAngle)) return kNan;
  const Reduced a = reduce_angle(x);
  const double magnitude = (a.quadrant & 1) != 0 ? cos_reduced(a.r) : sin_reduced(a.r);
  return (a.quadrant & 2) != 0 ? -magnitude : magnitude;
}

double cos(double x) {
  if (!(x >= -kMaxAngle && x <= kMaxAngle)) return kNan;
  const Reduced a = reduce_angle(x);
  const double magnitude = (a.quadrant & 1) != 0 ? sin_reduced(a.r) : cos_reduced(a.r);
  return a.quadrant == 1 || a.quadrant == 2 ? -magnitude : magnitude;
}

}  // namespace lockstep::real_math
