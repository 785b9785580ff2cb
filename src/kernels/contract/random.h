// Seeded test values, the same on every machine: a counter hashed by SplitMix64.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::contract {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // In [0, n).
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  // Mean 0, variance 1, |x| <= 6: the sum of 12 uniform numbers, which needs no logarithm.
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  std::vector<float> normals(int64_t n, double scale = 1.0) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = static_cast<float>(scale * normal());
    return values;
  }
  std::vector<float> uniforms(int64_t n, double low, double high) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = static_cast<float>(uniform(low, high));
    return values;
  }

 private:
  uint64_t state_;
};

}  // namespace lockstep::contract
