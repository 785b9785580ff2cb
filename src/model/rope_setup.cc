#include "model/rope_setup.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/real_math.h"
#include "kernels/rope/rope.h"

namespace lockstep {
namespace {

// The dimension whose wavelength makes `turns` turns within the original context.
double turning_dimension(double turns, const RopeConfig& rope, int64_t rotary_dim) {
  const auto positions = static_cast<double>(rope.yarn->original_max_positions);
  return static_cast<double>(rotary_dim) *
         real_math::log(positions / (2.0 * std::numbers::pi * turns)) /
         (2.0 * real_math::log(rope.theta));
}

}  // namespace

RopeSetup rope_setup(const RopeConfig& rope, int64_t rotary_dim) {
  RopeSetup setup{.frequencies = rope_frequencies(rope.theta, rotary_dim)};
  if (!rope.yarn) return setup;
  const auto last = static_cast<double>(rotary_dim - 1);
  const double low =
      std::clamp(std::floor(turning_dimension(rope.yarn->beta_fast, rope, rotary_dim)), 0.0, last);
  const double high =
      std::clamp(std::ceil(turning_dimension(rope.yarn->beta_slow, rope, rotary_dim)), 0.0, last);
  const double width = high > low ? high - low : 0.001;  // a step where both ends coincide
  for (size_t i = 0; i < setup.frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / width, 0.0, 1.0);
    const double plain = setup.frequencies[i];
    setup.frequencies[i] =
        static_cast<float>((1.0 - ramp) * plain + ramp * plain / rope.yarn->factor);
  }
  setup.scale = static_cast<float>(0.1 * real_math::log(rope.yarn->factor) + 1.0);
  return setup;
}

}  // namespace lockstep
