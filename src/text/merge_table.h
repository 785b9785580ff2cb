// Which two tokens merge into which, and in what order of preference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

struct Merge {
  int32_t left;
  int32_t right;
  int32_t merged;
};

class MergeTable {
 public:
  static constexpr uint32_t kNoMerge = 0xFFFFFFFFu;
  // Ids and ranks that one table slot can hold.
  static constexpr int32_t kMaxTokens = (1 << 22) - 1;
  static constexpr size_t kMaxMerges = (1 << 20) - 1;

  // `merges` in order of rank, lowest first; ids within [0, kMaxTokens), at most kMaxMerges. Of
  // equal pairs the last one counts, as in the reference.
  MergeTable(std::span<const Merge> merges, const std::array<int32_t, 256>& byte_tokens);

  // Rank of merging `left` with the token on its right, lower first; kNoMerge if they do not merge.
  uint32_t rank(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right);
    for (size_t slot = hash(key);; slot = (slot + 1) & mask_) {
      const uint64_t entry = slots_[slot];
      if (entry >> kRankBits == key) return static_cast<uint32_t>(entry & kRankMask);
      if (entry == kEmpty) return kNoMerge;
    }
  }

  // The same for two single bytes.
  uint32_t byte_rank(uint8_t left, uint8_t right) const {
    return byte_ranks_[size_t{left} << 8 | right];
  }

  int32_t byte_token(uint8_t byte) const { return byte_tokens_[byte]; }
  int32_t merged(uint32_t rank) const { return merged_[rank]; }

 private:
  // A slot is left (22 bits), right (22 bits), rank (20 bits). No merge has the rank of all ones.
  static constexpr int kRankBits = 20;
  static constexpr uint64_t kRankMask = (1u << kRankBits) - 1;
  static constexpr uint64_t kEmpty = ~uint64_t{0};

  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 22 | static_cast<uint64_t>(right);
  }
  size_t hash(uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }

  std::array<int32_t, 256> byte_tokens_;
  std::vector<int32_t> merged_;
  std::vector<uint64_t> slots_;
  size_t mask_;
  int shift_;
  std::vector<uint32_t> byte_ranks_;
};

}  // namespace lockstep
