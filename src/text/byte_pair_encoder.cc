#include "text/byte_pair_encoder.h"

#include <algorithm>
#include <functional>

namespace lockstep {
namespace {

// Up to here looking at every pair for each merge is quicker than keeping a queue.
constexpr size_t kMaxShort = 256;

}  // namespace

void BytePairEncoder::encode(std::string_view word, Workspace& workspace,
                             std::vector<int32_t>& out) const {
  if (word.size() <= kMaxShort) {
    encode_short(word, out);
  } else {
    encode_long(word, workspace, out);
  }
}

void BytePairEncoder::encode_short(std::string_view word, std::vector<int32_t>& out) const {
  // ranks[i] is the rank of tokens i and i + 1; the last one never merges.
  int32_t tokens[kMaxShort];
  uint32_t ranks[kMaxShort];
  size_t count = word.size();
  for (size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(word[i]);
    tokens[i] = table_.byte_token(byte);
    ranks[i] = i + 1 < count ? table_.byte_rank(byte, static_cast<uint8_t>(word[i + 1]))
                             : MergeTable::kNoMerge;
  }
  while (count > 1) {
    const size_t left = static_cast<size_t>(std::min_element(ranks, ranks + count) - ranks);
    if (ranks[left] == MergeTable::kNoMerge) break;
    tokens[left] = table_.merged(ranks[left]);
    std::copy(tokens + left + 2, tokens + count, tokens + left + 1);
    std::copy(ranks + left + 2, ranks + count, ranks + left + 1);
    --count;
    ranks[left] =
        left + 1 < count ? table_.rank(tokens[left], tokens[left + 1]) : MergeTable::kNoMerge;
    if (left > 0) ranks[left - 1] = table_.rank(tokens[left - 1], tokens[left]);
  }
  out.insert(out.end(), tokens, tokens + count);
}

void BytePairEncoder::encode_long(std::string_view word, Workspace& workspace,
                                  std::vector<int32_t>& out) const {
  auto& nodes = workspace.nodes;
  auto& queue = workspace.queue;
  const auto count = static_cast<int32_t>(word.size());
  nodes.clear();
  queue.clear();
  for (int32_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(word[i]);
    nodes.push_back({table_.byte_token(byte), i - 1, i + 1 < count ? i + 1 : -1});
    if (i + 1 == count) break;
    const uint32_t rank = table_.byte_rank(byte, static_cast<uint8_t>(word[i + 1]));
    if (rank != MergeTable::kNoMerge) queue.push_back(uint64_t{rank} << 32 | i);
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());
  const auto push_pair = [&](int32_t left) {
    const uint32_t rank = table_.rank(nodes[left].token, nodes[nodes[left].next].token);
    if (rank == MergeTable::kNoMerge) return;
    queue.push_back(uint64_t{rank} << 32 | static_cast<uint32_t>(left));
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  };
  constexpr int32_t kGone = -1;  // the token of a node that was merged into its left neighbour
  while (!queue.empty()) {
    const uint64_t top = queue.front();
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    queue.pop_back();
    const auto rank = static_cast<uint32_t>(top >> 32);
    const auto left = static_cast<int32_t>(top & 0xFFFFFFFFu);
    // An entry is stale if either of its tokens has been merged since.
    const int32_t right = nodes[left].next;
    if (nodes[left].token == kGone || right < 0 ||
        table_.rank(nodes[left].token, nodes[right].token) != rank) {
      continue;
    }
    nodes[left].token = table_.merged(rank);
    nodes[left].next = nodes[right].next;
    nodes[right].token = kGone;
    if (nodes[left].next >= 0) {
      nodes[nodes[left].next].previous = left;
      push_pair(left);
    }
    if (nodes[left].previous >= 0) push_pair(nodes[left].previous);
  }
  for (int32_t i = 0; i >= 0; i = nodes[i].next) out.push_back(nodes[i].token);
}

}  // namespace lockstep
