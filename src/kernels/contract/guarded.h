// Outputs for kernel tests: every value starts as a marked NaN, and marked bands before and behind
// show a write outside. The data is deliberately not aligned for vector loads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace lockstep::contract {

template <typename T>
class GuardedArray {
 public:
  explicit GuardedArray(int64_t size) { poison(size); }
  GuardedArray(int64_t size, std::span<const T> contents) {
    poison(size);
    std::copy(contents.begin(), contents.end(), data());
  }

  T* data() { return storage_.data() + kBand; }
  std::span<const T> values() const {
    return {storage_.data() + kBand, storage_.size() - 2 * kBand};
  }

  // True if no value was written, or all that were are unwritten again.
  bool untouched() const {
    return std::all_of(storage_.begin(), storage_.end(), [](T value) { return is_poison(value); });
  }
  // Makes value `index` unwritten again.
  void poison_at(int64_t index) { data()[index] = poison_value(); }

  std::vector<T> copy() const { return {values().begin(), values().end()}; }

  // Empty if the bands are intact and (unless `partial`) every value was written.
  std::string check(bool partial = false) const {
    for (size_t i = 0; i < storage_.size(); ++i) {
      const bool band = i < kBand || i >= storage_.size() - kBand;
      const bool marked = is_poison(storage_[i]);
      const auto index = static_cast<int64_t>(i) - static_cast<int64_t>(kBand);
      if (band && !marked) return "a write outside, at index " + std::to_string(index);
      if (!band && marked && !partial) return "no write at index " + std::to_string(index);
    }
    return "";
  }

 private:
  static constexpr size_t kBand = 67;

  // A value that no op gives: a NaN with a pattern of its own; -128, where -127 is the least.
  static T poison_value() {
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(0x7fc5a5a5u);
    if constexpr (sizeof(T) == 2) return static_cast<T>(0x7fc5u);
    if constexpr (sizeof(T) == 1) return static_cast<T>(-128);
  }
  static bool is_poison(T value) {
    const T poison = poison_value();
    return std::memcmp(&value, &poison, sizeof(T)) == 0;
  }
  void poison(int64_t size) {
    storage_.assign(static_cast<size_t>(size) + 2 * kBand, poison_value());
  }
  std::vector<T> storage_;
};

using Guarded = GuardedArray<float>;

}  // namespace lockstep::contract
