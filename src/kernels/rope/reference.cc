#include "kernels/rope/reference.h"

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void rotate(const RopeArgs& args, const Real* x, const Real* cos, const Real* sin, double* y) {
  const int64_t half = args.rotary_dim / 2;
  for (int64_t head = 0; head < args.rows * args.heads; ++head) {
    const Real* v = x + head * args.head_dim;
    double* out = y + head * args.head_dim;
    for (int64_t i = 0; i < args.head_dim; ++i) out[i] = v[i];
    for (int64_t i = 0; i < half; ++i) {
      const double cosine = cos[head / args.heads * half + i];
      const double sine = sin[head / args.heads * half + i];
      out[i] = v[i] * cosine - v[i + half] * sine;
      out[i + half] = v[i + half] * cosine + v[i] * sine;
    }
  }
}

}  // namespace

void reference_rope(const RopeArgs& args, double* y) {
  rotate(args, args.x, args.cos, args.sin, y);
}

void reference_rope(const RopeArgs& args, const double* x, const double* cos, const double* sin,
                    double* y) {
  rotate(args, x, cos, sin, y);
}

void reference_rope_table(std::span<const float> frequencies, std::array<int64_t, 3> mrope_section,
                          float scale, std::array<int32_t, 3> position, double* cos, double* sin) {
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const size_t axis = i % 3;
    const bool spatial = axis != 0 && static_cast<int64_t>(i) < 3 * mrope_section[axis];
    const float angle = static_cast<float>(position[spatial ? axis : 0]) * frequencies[i];
    cos[i] = real_math::cos(angle) * scale;
    sin[i] = real_math::sin(angle) * scale;
  }
}

}  // namespace lockstep
