#include "base/real_math.h"
#include "kernels/rope/rope.h"

namespace lockstep {

std::vector<float> rope_frequencies(double theta, int64_t rotary_dim) {
  std::vector<float> frequencies(static_cast<size_t>(rotary_dim / 2));
  for (int64_t i = 0; i < rotary_dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim);
    frequencies[static_cast<size_t>(i)] = static_cast<float>(real_math::pow(theta, exponent));
  }
  return frequencies;
}

void rope_table(std::span<const float> frequencies, std::array<int64_t, 3> mrope_section,
                float scale, std::array<int32_t, 3> position, float* cos, float* sin) {
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const size_t axis = i % 3;
    const bool spatial = axis != 0 && static_cast<int64_t>(i) < 3 * mrope_section[axis];
    const float angle = static_cast<float>(position[spatial ? axis : 0]) * frequencies[i];
    cos[i] = static_cast<float>(real_math::cos(angle)) * scale;
    sin[i] = static_cast<float>(real_math::sin(angle)) * scale;
  }
}

}  // namespace lockstep
