#include "formats/block_quantiser.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/float16.h"
#include "formats/block_group.h"

namespace lockstep {
namespace {

using Values = std::span<const float, kBlockGroup>;

uint8_t* bytes_at(std::byte* out) { return reinterpret_cast<uint8_t*>(out); }

// The value that is stored; false where binary16 cannot hold it.
bool store_half(float value, uint8_t* address, float& stored) {
  const uint16_t half = float_to_f16(value);
  stored = f16_to_float(half);
  std::memcpy(address, &half, sizeof(half));
  return std::isfinite(stored);
}

// What values are multiplied with; 0 where the scale is too small to tell from it.
float inverse_of(float scale) { return std::fabs(scale) > 1e-30f ? 1.0f / scale : 0.0f; }

// The nearest of the integers from `low` to `high` to value * inverse. Adding and taking off 1.5 *
// 2^23 rounds to even, without the call that rint is on processors of the baseline.
float nearest(float value, float inverse, float low, float high) {
  constexpr float kRound = 0x1.8p23f;
  const float q = std::min(std::max(value * inverse, low), high);
  return (q + kRound) - kRound;
}

float largest(Values x) {  // of the magnitudes, with its sign
  return *std::max_element(x.begin(), x.end(),
                           [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

bool quantise_q8_0(Values x, std::byte* out) {
  float scale = 0.0f;
  if (!store_half(std::fabs(largest(x)) / 127.0f, bytes_at(out), scale)) return false;
  const float inverse = inverse_of(scale);
  for (int e = 0; e < kBlockGroup; ++e) {
    const float q = nearest(x[e], inverse, -127.0f, 127.0f);
    bytes_at(out)[2 + e] = static_cast<uint8_t>(static_cast<int8_t>(q));
  }
  return true;
}

// The scale of integers from -8 to 7, as far as binary32 tells.
float fit_q4_0(Values x) {
  const float edge = largest(x);
  float best_scale = edge / -8.0f;
  float best_error = std::numeric_limits<float>::infinity();
  for (const float steps : {-8.5f, -8.0f, -7.5f, -7.0f, 6.5f, 7.0f, 7.5f}) {
    const float inverse = inverse_of(edge / steps);
    float qq = 0.0f, xq = 0.0f, xx = 0.0f;
    for (const float value : x) {
      const float q = nearest(value, inverse, -8.0f, 7.0f);
      qq += q * q;
      xq += value * q;
      xx += value * value;
    }
    if (qq == 0.0f) continue;
    const float error = xx - xq * (xq / qq);  // of the scale xq / qq
    if (error < best_error) {
      best_error = error;
      best_scale = xq / qq;
    }
  }
  return best_scale;
}

bool quantise_q4_0(Values x, std::byte* out) {
  float scale = 0.0f;
  if (!store_half(fit_q4_0(x), bytes_at(out), scale)) return false;
  const float inverse = inverse_of(scale);
  const auto nibble = [&](int e) {
    return static_cast<int>(nearest(x[e], inverse, -8.0f, 7.0f)) + 8;
  };
  for (int e = 0; e < kBlockGroup / 2; ++e) {
    const int low = nibble(e);
    const int high = nibble(e + kBlockGroup / 2);
    bytes_at(out)[2 + e] = static_cast<uint8_t>(low | high << 4);
  }
  return true;
}

// Values are scale * q - min with q from 0 to 15, and neither is negative.
struct ScaleMin {
  float scale = 0.0f;
  float min = 0.0f;
};

float squared_error(Values x, const ScaleMin& fit) {
  const float inverse = inverse_of(fit.scale);
  float error = 0.0f;
  for (const float value : x) {
    const float q = nearest(value + fit.min, inverse, 0.0f, 15.0f);
    const float miss = value - (fit.scale * q - fit.min);
    error += miss * miss;
  }
  return error;
}

// Least squares for the integers that `fit` gives; `fit` itself where there is no better.
ScaleMin refine(Values x, const ScaleMin& fit) {
  const float inverse = inverse_of(fit.scale);
  float n = 0.0f, q1 = 0.0f, q2 = 0.0f, x1 = 0.0f, xq = 0.0f;
  for (const float value : x) {
    const float q = nearest(value + fit.min, inverse, 0.0f, 15.0f);
    n += 1.0f;
    q1 += q;
    q2 += q * q;
    x1 += value;
    xq += value * q;
  }
  const float determinant = n * q2 - q1 * q1;
  if (determinant <= 0.0f) return fit;
  ScaleMin better;
  better.scale = (n * xq - q1 * x1) / determinant;
  better.min = (better.scale * q1 - x1) / n;
  if (better.min < 0.0f) better = {xq / q2, 0.0f};
  return better.scale > 0.0f ? better : fit;
}

ScaleMin fit_q4_k(Values x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const float min = std::max(-*low, 0.0f);
  const float range = *high + min;
  if (range <= 0.0f) return {0.0f, min};
  ScaleMin best = {range / 15.0f, min};
  float best_error = squared_error(x, best);
  for (const float steps : {13.0f, 14.0f, 14.5f, 15.0f, 15.5f, 16.0f}) {
    const ScaleMin candidate = refine(x, {range / steps, min});
    const float error = squared_error(x, candidate);
    if (error < best_error) {
      best_error = error;
      best = candidate;
    }
  }
  return best;
}

// The inverse of unpack_scale_and_min.
void pack_scale_and_min(int j, int scale, int min, uint8_t* packed) {
  if (j < 4) {
    packed[j] = static_cast<uint8_t>(packed[j] | scale);
    packed[j + 4] = static_cast<uint8_t>(packed[j + 4] | min);
    return;
  }
  packed[j - 4] = static_cast<uint8_t>(packed[j - 4] | scale >> 4 << 6);
  packed[j] = static_cast<uint8_t>(packed[j] | min >> 4 << 6);
  packed[j + 4] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
}

bool quantise_q4_k(std::span<const float> block, std::byte* out) {
  constexpr int kGroups = 8;
  const auto values = [&](int j) {
    return Values(block.subspan(static_cast<size_t>(j) * kBlockGroup, kBlockGroup));
  };
  ScaleMin fits[kGroups];
  ScaleMin widest;
  for (int j = 0; j < kGroups; ++j) {
    fits[j] = fit_q4_k(values(j));
    widest = {std::max(widest.scale, fits[j].scale), std::max(widest.min, fits[j].min)};
  }
  uint8_t* bytes = bytes_at(out);
  std::fill_n(bytes, block_shape(BlockType::kQ4_K).bytes, uint8_t{0});
  ScaleMin unit;  // what the 6-bit integers multiply
  if (!store_half(widest.scale / 63.0f, bytes, unit.scale)) return false;
  if (!store_half(widest.min / 63.0f, bytes + 2, unit.min)) return false;
  for (int j = 0; j < kGroups; ++j) {
    const float scale = nearest(fits[j].scale, inverse_of(unit.scale), 0.0f, 63.0f);
    const float min = nearest(fits[j].min, inverse_of(unit.min), 0.0f, 63.0f);
    pack_scale_and_min(j, static_cast<int>(scale), static_cast<int>(min), bytes + 4);
    const ScaleMin stored = {unit.scale * scale, unit.min * min};
    const float inverse = inverse_of(stored.scale);
    uint8_t* nibbles = bytes + 16 + kBlockGroup * (j / 2);
    for (int e = 0; e < kBlockGroup; ++e) {
      const auto q = static_cast<int>(nearest(values(j)[e] + stored.min, inverse, 0.0f, 15.0f));
      nibbles[e] = static_cast<uint8_t>(nibbles[e] | q << (j % 2 * 4));
    }
  }
  return true;
}

bool quantise_block(std::span<const float> block, BlockType type, std::byte* out) {
  switch (type) {
    case BlockType::kQ8_0:
      return quantise_q8_0(Values(block), out);
    case BlockType::kQ4_0:
      return quantise_q4_0(Values(block), out);
    default:
      return quantise_q4_k(block, out);
  }
}

}  // namespace

bool can_quantise(BlockType type) {
  return type == BlockType::kQ8_0 || type == BlockType::kQ4_0 || type == BlockType::kQ4_K;
}

bool quantise_block_row(std::span<const float> row, BlockType type, std::byte* out) {
  const BlockShape shape = block_shape(type);
  const auto elements = static_cast<size_t>(shape.elements);
  LOCKSTEP_CHECK(can_quantise(type) && row.size() % elements == 0, shape.name);
  if (!std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); })) return false;
  for (size_t begin = 0; begin < row.size(); begin += elements, out += shape.bytes) {
    if (!quantise_block(row.subspan(begin, elements), type, out)) return false;
  }
  return true;
}

}  // namespace lockstep
