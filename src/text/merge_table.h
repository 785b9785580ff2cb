// Which two tokens merge into which, and in what order of preference.
#pragma once

#include <algorithm>
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
  // More than any model has; they bound the memory that a file can ask for.
  static constexpr int32_t kMaxTokens = 1 << 22;
  static constexpr size_t kMaxMerges = size_t{1} << 22;

  // `merges` in order of rank, lowest first; ids within [0, kMaxTokens), at most kMaxMerges. Of
  // equal pairs the last one counts, as in the reference.
  MergeTable(std::span<const Merge> merges, const std::array<int32_t, 256>& byte_tokens);

  // Rank of merging `left` with the token on its right, lower first; kNoMerge if they do not merge.
  // Both are byte tokens or results of merges.
  uint32_t rank(int32_t left, int32_t right) const {
    const Left& partners = lefts_[left];
    if ((partners.filter & filter_bit(right)) == 0) return kNoMerge;
    const Right* first = rights_.data() + partners.first;
    const Right* last = rights_.data() + partners.last;
    const Right* found = std::lower_bound(
        first, last, right, [](const Right& a, int32_t token) { return a.token < token; });
    return found != last && found->token == right ? found->rank : kNoMerge;
  }

  // The same for two single bytes.
  uint32_t byte_rank(uint8_t left, uint8_t right) const {
    return byte_ranks_[size_t{left} << 8 | right];
  }

  int32_t byte_token(uint8_t byte) const { return byte_tokens_[byte]; }
  int32_t merged(uint32_t rank) const { return merged_[rank]; }

 private:
  // What merges with one token on its left. Nearly all questions are answered "no" by the filter:
  // one bit for each partner. A hash of pairs would miss the processor's cache each time instead.
  struct Left {
    uint64_t filter = 0;
    uint32_t first = 0;  // range of rights_
    uint32_t last = 0;
  };
  struct Right {
    int32_t token;
    uint32_t rank;
  };

  static uint64_t filter_bit(int32_t token) {
    return uint64_t{1} << (static_cast<uint32_t>(token) * 0x9E3779B1u >> 26);
  }

  std::array<int32_t, 256> byte_tokens_;
  std::vector<Left> lefts_;    // by token
  std::vector<Right> rights_;  // by left token, then by right token
  std::vector<int32_t> merged_;
  std::vector<uint32_t> byte_ranks_;
};

}  // namespace lockstep
