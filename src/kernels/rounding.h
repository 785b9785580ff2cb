// Error bounds of float32 arithmetic, for the bounds that op headers state.
#pragma once

#include <cstdint>

namespace lockstep {

// Half a unit in the last place of 1: what one rounding to nearest adds, relatively.
inline constexpr double kRounding = 0x1p-24;
// What one rounding adds absolutely to a subnormal result.
inline constexpr double kTiny = 0x1p-149;

// Relative error of n roundings in a row.
constexpr double roundings(double n) { return n * kRounding / (1.0 - n * kRounding); }

// Roundings that one term of a sum of n meets in 16 lanes and the tree 16-8-4-2-1.
constexpr double lane_sum_depth(int64_t n) { return static_cast<double>((n + 15) / 16) + 4.0; }

// Relative errors of the functions in simd/math.h, in roundings.
inline constexpr double kExpRoundings = 2.0;
inline constexpr double kSigmoidRoundings = kExpRoundings + 2.0;
inline constexpr double kSiluRoundings = kExpRoundings + 2.0;
inline constexpr double kSoftplusRoundings = 6.0;
// sigmoid(x) is 0 where e^-x exceeds float32, x < -88.7; the true value is below this.
inline constexpr double kSigmoidFloor = 0x1p-127;

}  // namespace lockstep
