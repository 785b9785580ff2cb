// A radix tree over token ids: finds, for a prompt, every saved sequence that it begins with. Knows
// ids and opaque values, nothing of what is saved.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace lockstep {

class PrefixTree {
 public:
  using Value = uint64_t;  // 0: none

  // Stays where it is until it is erased, whatever is added or erased around it.
  class Node;

  struct Found {
    int64_t length = 0;  // the value stands after so many of the ids
    Value value = 0;
  };
  struct Match {
    int64_t matched = 0;         // ids that some path of the tree begins with too
    bool other_follows = false;  // that path goes on, by other ids than these or beyond their end
    std::vector<Found> values;   // on the path, ascending by length
  };

  PrefixTree();
  ~PrefixTree();
  PrefixTree(PrefixTree&&) noexcept;
  PrefixTree& operator=(PrefixTree&&) noexcept;

  Match match(std::span<const int32_t> ids) const;

  // Puts a value after `ids` (at least one), in place of the one that is there.
  Node* insert(std::span<const int32_t> ids, Value value);

  // Takes the node's value, and the ids that led to it alone.
  void erase(Node* node);

  static std::vector<int32_t> ids_of(const Node* node);

  bool empty() const;
  // Ids that the tree holds, each shared one once.
  int64_t size() const { return size_; }

  // The values, of those that `live` accepts, that at least two live ones follow directly: both
  // begin with its ids, with no live one in between.
  std::vector<Value> shared_values(const std::function<bool(Value)>& live) const;

 private:
  Node* split(Node* node, int64_t length);

  std::unique_ptr<Node> root_;
  int64_t size_ = 0;
};

}  // namespace lockstep
