// Outputs for kernel tests: every value starts as a marked NaN, and marked bands before and behind
// show a write outside. The data is deliberately not aligned for vector loads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::contract {

class Guarded {
 public:
  explicit Guarded(int64_t size) { poison(size); }
  Guarded(int64_t size, std::span<const float> contents) {
    poison(size);
    std::copy(contents.begin(), contents.end(), data());
  }

  float* data() { return storage_.data() + kBand; }
  std::span<const float> values() const {
    return {storage_.data() + kBand, storage_.size() - 2 * kBand};
  }

  std::vector<float> copy() const { return {values().begin(), values().end()}; }

  // Empty if the bands are intact and (unless `partial`) every value was written.
  std::string check(bool partial = false) const {
    for (size_t i = 0; i < storage_.size(); ++i) {
      const bool band = i < kBand || i >= storage_.size() - kBand;
      const bool marked = std::bit_cast<uint32_t>(storage_[i]) == kPoison;
      const auto index = static_cast<int64_t>(i) - static_cast<int64_t>(kBand);
      if (band && !marked) return "a write outside, at index " + std::to_string(index);
      if (!band && marked && !partial) return "no write at index " + std::to_string(index);
    }
    return "";
  }

 private:
  static constexpr size_t kBand = 67;
  static constexpr uint32_t kPoison = 0x7fc5a5a5u;

  void poison(int64_t size) {
    storage_.assign(static_cast<size_t>(size) + 2 * kBand, std::bit_cast<float>(kPoison));
  }
  std::vector<float> storage_;
};

}  // namespace lockstep::contract
