// The values of synthetic tensors. Each is a function of (key of the tensor, element index) alone,
// in integer and exactly rounded float32 arithmetic: the same on every machine and thread count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/affine_quantiser.h"

namespace lockstep {

enum class Distribution : uint8_t {
  kNormal,   // mean 0, standard deviation `spread`; a sum of four uniform values
  kNorm,     // normal around `centre`, rounded to a multiple of 1/64: with or without the 1 of a
             // zero-centred norm it is exact in bf16, so that both layouts store the same model
  kRange,    // evenly over [centre, centre + spread], one value in each of as many parts as the
             // tensor has elements, in a shuffled order
  kLowRange  // as kRange, but most values near `centre`: the square of the even ones
};

struct Fill {
  Distribution distribution = Distribution::kNormal;
  float centre = 0.0f;
  float spread = 1.0f;
};

// The key of a tensor's values.
uint64_t tensor_key(uint64_t seed, std::string_view name);

// Elements [begin, begin + out.size()) of a tensor of `count` elements.
void fill_values(const Fill& fill, uint64_t key, int64_t begin, int64_t count,
                 std::span<float> out);

// Row `row` of a 4-bit affine matrix [.., cols] whose elements have mean 0 and about the standard
// deviation `spread`, made without making the elements: q is bell-shaped over 0..15, scales vary
// and have either sign, and zero is a value of every group, as in a quantised matrix.
// format.bits is 4. packed: cols / 2 bytes; scales, biases: cols / group elements.
void fill_affine4_row(float spread, uint64_t key, int64_t row, int64_t cols,
                      const AffineFormat& format, std::byte* packed, std::byte* scales,
                      std::byte* biases);

}  // namespace lockstep
