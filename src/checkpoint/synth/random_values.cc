#include "checkpoint/synth/random_values.h"

#include <cmath>
#include <cstring>

#include "base/check.h"

namespace lockstep {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
constexpr uint64_t kScaleStream = 0x5851f42d4c957f2du;  // apart from the element words of a key

// The output function of SplitMix64 (Steele, Lea, Flood, 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t word(uint64_t key, uint64_t counter) { return mix(key + (counter + 1) * kGolden); }

// [0, 1), 24 bits.
float uniform(uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }

// The four 16-bit parts of a word, summed: mean 131070, standard deviation 65536 / sqrt(3).
float normal(uint64_t bits) {
  const auto sum = static_cast<int32_t>((bits & 0xffffu) + ((bits >> 16) & 0xffffu) +
                                        ((bits >> 32) & 0xffffu) + (bits >> 48));
  constexpr float kUnit = 1.0f / 37837.227f;
  return static_cast<float>(sum - 131070) * kUnit;
}

// Where in [0, 1) element `index` of `count` lies: a part of its own, found by a stride.
float place_in_range(uint64_t key, int64_t index, int64_t count) {
  constexpr uint64_t kStride = 7;  // coprime to every head count of the family
  const auto parts = static_cast<uint64_t>(count);
  const uint64_t part = (static_cast<uint64_t>(index) * kStride + key % parts) % parts;
  const float offset = uniform(word(key, static_cast<uint64_t>(index)));
  return (static_cast<float>(part) + offset) / static_cast<float>(count);
}

float value_at(const Fill& fill, uint64_t key, int64_t index, int64_t count) {
  switch (fill.distribution) {
    case Distribution::kNormal:
      return fill.spread * normal(word(key, static_cast<uint64_t>(index)));
    case Distribution::kNorm: {
      const float w = fill.centre + fill.spread * normal(word(key, static_cast<uint64_t>(index)));
      return std::rint(w * 64.0f) * 0x1p-6f;
    }
    case Distribution::kRange:
      return fill.centre + fill.spread * place_in_range(key, index, count);
    case Distribution::kLowRange: {
      const float place = place_in_range(key, index, count);
      return fill.centre + fill.spread * (place * place);
    }
  }
  return 0.0f;
}

}  // namespace

uint64_t tensor_key(uint64_t seed, std::string_view name) {
  uint64_t key = mix(seed + kGolden);
  for (const char letter : name) key = mix(key ^ static_cast<unsigned char>(letter)) + kGolden;
  return mix(key);
}

void fill_values(const Fill& fill, uint64_t key, int64_t begin, int64_t count,
                 std::span<float> out) {
  if (fill.distribution == Distribution::kNormal) {  // the bulk of a checkpoint: a tight loop
    const auto first = static_cast<uint64_t>(begin);
    for (size_t i = 0; i < out.size(); ++i) out[i] = fill.spread * normal(word(key, first + i));
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = value_at(fill, key, begin + static_cast<int64_t>(i), count);
  }
}

void fill_affine4_row(float spread, uint64_t key, int64_t row, int64_t cols,
                      const AffineFormat& format, std::byte* packed, std::byte* scales,
                      std::byte* biases) {
  LOCKSTEP_CHECK(is_valid(format) && format.bits == 4 && cols % format.group == 0,
                 "not a 4-bit affine row");
  // q = a + b + c per nibble, a and b uniform over 0..7, c over 0..1: no carry leaves a nibble.
  constexpr uint64_t kLow3 = 0x7777777777777777u;
  constexpr uint64_t kLow1 = 0x1111111111111111u;
  constexpr float kDeviation = 3.2787f;  // of q: sqrt(5.25 + 5.25 + 0.25)
  const uint64_t words = static_cast<uint64_t>(cols) / 16;
  const uint64_t first_word = static_cast<uint64_t>(row) * words;
  for (uint64_t i = 0; i < words; ++i) {
    const uint64_t a = word(key, 2 * (first_word + i));
    const uint64_t b = word(key, 2 * (first_word + i) + 1);
    const uint64_t q = (a & kLow3) + (b & kLow3) + ((a >> 3) & kLow1);
    std::memcpy(packed + i * sizeof(q), &q, sizeof(q));
  }
  const uint64_t groups = static_cast<uint64_t>(cols / format.group);
  const uint64_t first_group = static_cast<uint64_t>(row) * groups;
  const size_t scale_bytes = size_of(format.scales);
  for (uint64_t i = 0; i < groups; ++i) {
    const uint64_t bits = word(key ^ kScaleStream, first_group + i);
    const float magnitude = spread / kDeviation * (0.75f + 0.5f * uniform(bits));
    const float scale = store_float((bits & 1u) != 0 ? magnitude : -magnitude, format.scales,
                                    scales + i * scale_bytes);
    const float zero = (bits & 2u) != 0 ? 7.0f : 8.0f;  // the q of zero
    store_float(-zero * scale, format.scales, biases + i * scale_bytes);
  }
}

}  // namespace lockstep
