// Byte-pair merging of one word: the pair of lowest rank, leftmost first, until none merges.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/merge_table.h"

namespace lockstep {

class BytePairEncoder {
 public:
  explicit BytePairEncoder(MergeTable table) : table_(std::move(table)) {}

  // Memory that calls reuse; one thread at a time.
  struct Workspace {
    struct Node {
      int32_t token;
      int32_t previous;
      int32_t next;
    };
    size_t bytes() const {
      return nodes.capacity() * sizeof(Node) + queue.capacity() * sizeof(uint64_t);
    }

    std::vector<Node> nodes;
    std::vector<uint64_t> queue;  // rank << 32 | index of the left node
  };

  // Appends the tokens of `word`, at most 2^31 - 1 bytes. O(n log n) for long words.
  void encode(std::string_view word, Workspace& workspace, std::vector<int32_t>& out) const;

 private:
  void encode_short(std::string_view word, std::vector<int32_t>& out) const;
  void encode_long(std::string_view word, Workspace& workspace, std::vector<int32_t>& out) const;

  MergeTable table_;
};

}  // namespace lockstep
