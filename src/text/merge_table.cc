#include "text/merge_table.h"

#include <bit>

namespace lockstep {

MergeTable::MergeTable(std::span<const Merge> merges, const std::array<int32_t, 256>& byte_tokens)
    : byte_tokens_(byte_tokens) {
  const size_t size = std::bit_ceil(merges.size() * 2 + 2);
  slots_.assign(size, kEmpty);
  mask_ = size - 1;
  shift_ = 64 - std::countr_zero(size);
  merged_.reserve(merges.size());
  for (const Merge& merge : merges) {
    const uint64_t key = key_of(merge.left, merge.right);
    size_t slot = hash(key);
    while (slots_[slot] != kEmpty && slots_[slot] >> kRankBits != key) slot = (slot + 1) & mask_;
    slots_[slot] = key << kRankBits | merged_.size();
    merged_.push_back(merge.merged);
  }
  byte_ranks_.resize(256 * 256);
  for (size_t pair = 0; pair < byte_ranks_.size(); ++pair) {
    byte_ranks_[pair] = rank(byte_tokens[pair >> 8], byte_tokens[pair & 0xFF]);
  }
}

}  // namespace lockstep
