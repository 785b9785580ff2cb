#include "formats/affine_quantiser.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/float16.h"

namespace lockstep {
namespace {

struct Group {
  float scale = 0.0f;
  float bias = 0.0f;
};

Group fit_group(std::span<const float> values, float levels) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  constexpr float kSmallestScale = 1e-7f;
  float scale = std::max((*high - *low) / levels, kSmallestScale);
  const bool low_is_edge = std::fabs(*low) > std::fabs(*high);
  const float edge = low_is_edge ? *low : *high;
  if (!low_is_edge) scale = -scale;
  const float q0 = std::rint(edge / scale);
  if (q0 == 0.0f) return {scale, 0.0f};
  return {edge / q0, edge};
}

// Appends values of a fixed width to a little-endian bit stream.
class BitPacker {
 public:
  BitPacker(std::byte* out, int bits) : out_(out), bits_(bits) {}

  void append(uint32_t value) {
    window_ |= value << filled_;
    filled_ += bits_;
    for (; filled_ >= 8; filled_ -= 8, window_ >>= 8) *out_++ = static_cast<std::byte>(window_);
  }

 private:
  std::byte* out_;
  int bits_;
  int filled_ = 0;
  uint32_t window_ = 0;
};

}  // namespace

bool is_valid(const AffineFormat& format) {
  const bool bits = (format.bits >= 2 && format.bits <= 6) || format.bits == 8;
  const bool group = format.group == 32 || format.group == 64 || format.group == 128;
  const bool scales =
      format.scales == DType::kBF16 || format.scales == DType::kF16 || format.scales == DType::kF32;
  return bits && group && scales;
}

float store_float(float value, DType dtype, std::byte* address) {
  if (dtype == DType::kF32) {
    std::memcpy(address, &value, sizeof(value));
    return value;
  }
  LOCKSTEP_CHECK(dtype == DType::kBF16 || dtype == DType::kF16, to_string(dtype));
  const uint16_t half = dtype == DType::kBF16 ? float_to_bf16(value) : float_to_f16(value);
  std::memcpy(address, &half, sizeof(half));
  return dtype == DType::kBF16 ? bf16_to_float(half) : f16_to_float(half);
}

bool quantise_affine_row(std::span<const float> row, const AffineFormat& format, std::byte* packed,
                         std::byte* scales, std::byte* biases) {
  const auto group = static_cast<size_t>(format.group);
  LOCKSTEP_CHECK(is_valid(format) && row.size() % group == 0, "not an affine format for this row");
  const size_t scale_bytes = size_of(format.scales);
  const auto levels = static_cast<float>((1 << format.bits) - 1);
  BitPacker packer(packed, format.bits);
  for (size_t begin = 0; begin < row.size(); begin += group) {
    const std::span<const float> values = row.subspan(begin, group);
    if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
      return false;
    }
    const Group fit = fit_group(values, levels);
    const size_t offset = begin / group * scale_bytes;
    const float scale = store_float(fit.scale, format.scales, scales + offset);
    const float bias = store_float(fit.bias, format.scales, biases + offset);
    if (!std::isfinite(scale) || !std::isfinite(bias)) return false;
    for (const float value : values) {
      const float q = std::rint((value - fit.bias) / fit.scale);
      packer.append(static_cast<uint32_t>(std::clamp(q, 0.0f, levels)));
    }
  }
  return true;
}

}  // namespace lockstep
