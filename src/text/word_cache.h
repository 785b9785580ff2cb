// Remembers the tokens of short words, in memory of fixed size: a new word replaces the one that
// shares its slot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

class WordCache {
 public:
  static constexpr size_t kMaxBytes = 38;

  // One cache line.
  class Slot {
   public:
    bool holds(std::string_view word) const {
      return bytes_ == word.size() && std::memcmp(word_, word.data(), word.size()) == 0;
    }
    std::span<const int32_t> tokens() const { return {tokens_, count_}; }

    // Nothing is stored if there are too many tokens.
    void store(std::string_view word, std::span<const int32_t> tokens) {
      if (tokens.size() > kMaxTokens) return;
      bytes_ = static_cast<uint8_t>(word.size());
      count_ = static_cast<uint8_t>(tokens.size());
      std::copy(word.begin(), word.end(), word_);
      std::copy(tokens.begin(), tokens.end(), tokens_);
    }

   private:
    static constexpr size_t kMaxTokens = 6;

    int32_t tokens_[kMaxTokens];
    uint8_t bytes_ = 0;
    uint8_t count_ = 0;
    char word_[kMaxBytes];
  };

  WordCache() : slots_(size_t{1} << kSlotBits) {}

  // Where the tokens of `word`, 1 to kMaxBytes bytes, are or would be.
  Slot& slot(std::string_view word) { return slots_[hash(word) >> (64 - kSlotBits)]; }

 private:
  static constexpr int kSlotBits = 14;

  static uint64_t mix(uint64_t state, uint64_t value) {
    state = (state ^ value) * 0x9E3779B97F4A7C15u;
    return state ^ state >> 29;
  }
  static uint64_t hash(std::string_view word) {
    uint64_t state = word.size();
    uint64_t value = 0;
    size_t at = 0;
    for (; at + 8 <= word.size(); at += 8) {
      std::memcpy(&value, word.data() + at, 8);
      state = mix(state, value);
    }
    value = 0;
    for (; at < word.size(); ++at) value = value << 8 | static_cast<uint8_t>(word[at]);
    return mix(state, value);
  }

  std::vector<Slot> slots_;
};

}  // namespace lockstep
