#include "text/merge_table.h"

#include <numeric>
#include <tuple>

namespace lockstep {

MergeTable::MergeTable(std::span<const Merge> merges, const std::array<int32_t, 256>& byte_tokens)
    : byte_tokens_(byte_tokens) {
  std::vector<uint32_t> order(merges.size());
  std::iota(order.begin(), order.end(), 0u);
  // Equal pairs come with the last one first, which lower_bound then finds.
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(merges[a].left, merges[a].right, b) <
           std::tuple(merges[b].left, merges[b].right, a);
  });

  int32_t highest = *std::max_element(byte_tokens.begin(), byte_tokens.end());
  for (const Merge& merge : merges) {
    highest = std::max({highest, merge.left, merge.right, merge.merged});
    merged_.push_back(merge.merged);
  }
  lefts_.resize(static_cast<size_t>(highest) + 1);
  rights_.reserve(merges.size());
  for (const uint32_t rank : order) {
    Left& partners = lefts_[merges[rank].left];
    if (partners.filter == 0) partners.first = static_cast<uint32_t>(rights_.size());
    partners.filter |= filter_bit(merges[rank].right);
    rights_.push_back({merges[rank].right, rank});
    partners.last = static_cast<uint32_t>(rights_.size());
  }

  byte_ranks_.resize(256 * 256);
  for (size_t pair = 0; pair < byte_ranks_.size(); ++pair) {
    byte_ranks_[pair] = rank(byte_tokens[pair >> 8], byte_tokens[pair & 0xFF]);
  }
}

}  // namespace lockstep
