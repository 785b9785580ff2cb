#include "runtime/prompt_cache/prefix_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lockstep {

class PrefixTree::Node {
 public:
  std::vector<int32_t> label;  // ids from the parent's end to this node's; the root has none
  Node* parent = nullptr;
  std::map<int32_t, std::unique_ptr<Node>> children;  // by the first id of their labels
  Value value = 0;
};

namespace {

int64_t common_length(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return end - a.begin();
}

}  // namespace

PrefixTree::PrefixTree() : root_(std::make_unique<Node>()) {}
PrefixTree::~PrefixTree() = default;
PrefixTree::PrefixTree(PrefixTree&&) noexcept = default;
PrefixTree& PrefixTree::operator=(PrefixTree&&) noexcept = default;

bool PrefixTree::empty() const { return root_->children.empty(); }

PrefixTree::Match PrefixTree::match(std::span<const int32_t> ids) const {
  Match match;
  const Node* node = root_.get();
  while (true) {
    const std::span<const int32_t> rest = ids.subspan(static_cast<size_t>(match.matched));
    const auto child = rest.empty() ? node->children.end() : node->children.find(rest.front());
    if (child == node->children.end()) {
      match.other_follows = !node->children.empty();
      return match;
    }
    node = child->second.get();
    const int64_t common = common_length(node->label, rest);
    match.matched += common;
    if (common < static_cast<int64_t>(node->label.size())) {
      match.other_follows = true;
      return match;
    }
    if (node->value != 0) match.values.push_back({match.matched, node->value});
  }
}

PrefixTree::Node* PrefixTree::insert(std::span<const int32_t> ids, Value value) {
  LOCKSTEP_CHECK(!ids.empty() && value != 0, "nothing to insert");
  Node* node = root_.get();
  while (!ids.empty()) {
    const auto child = node->children.find(ids.front());
    if (child == node->children.end()) {
      auto leaf = std::make_unique<Node>();
      leaf->label.assign(ids.begin(), ids.end());
      leaf->parent = node;
      size_ += static_cast<int64_t>(ids.size());
      node = (node->children[ids.front()] = std::move(leaf)).get();
      break;
    }
    node = child->second.get();
    const int64_t common = common_length(node->label, ids);
    if (common < static_cast<int64_t>(node->label.size())) node = split(node, common);
    ids = ids.subspan(static_cast<size_t>(common));
  }
  node->value = value;
  return node;
}

// A new node takes the first `length` ids of the label; `node` stays at its end.
PrefixTree::Node* PrefixTree::split(Node* node, int64_t length) {
  auto upper = std::make_unique<Node>();
  const auto border = node->label.begin() + length;
  upper->label.assign(node->label.begin(), border);
  upper->parent = node->parent;
  std::unique_ptr<Node>& place = node->parent->children[node->label.front()];
  std::unique_ptr<Node> lower = std::exchange(place, std::move(upper));
  lower->label.erase(lower->label.begin(), border);
  lower->parent = place.get();
  place->children[lower->label.front()] = std::move(lower);
  return place.get();
}

void PrefixTree::erase(Node* node) {
  node->value = 0;
  while (node != root_.get() && node->value == 0 && node->children.empty()) {
    Node* parent = node->parent;
    size_ -= static_cast<int64_t>(node->label.size());
    parent->children.erase(node->label.front());
    node = parent;
  }
  if (node == root_.get() || node->value != 0 || node->children.size() != 1) return;
  // A node with nothing of its own joins the only one below it, which stays where it is.
  std::unique_ptr<Node> child = std::move(node->children.begin()->second);
  child->label.insert(child->label.begin(), node->label.begin(), node->label.end());
  child->parent = node->parent;
  node->parent->children[child->label.front()] = std::move(child);
}

std::vector<int32_t> PrefixTree::ids_of(const Node* node) {
  std::vector<const Node*> path;
  for (; node->parent != nullptr; node = node->parent) path.push_back(node);
  std::vector<int32_t> ids;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    ids.insert(ids.end(), (*at)->label.begin(), (*at)->label.end());
  }
  return ids;
}

std::vector<PrefixTree::Value> PrefixTree::shared_values(
    const std::function<bool(Value)>& live) const {
  std::vector<Value> shared;
  // Live values below a node that no other live one stands before.
  const std::function<int64_t(const Node&)> visit = [&](const Node& node) {
    int64_t below = 0;
    for (const auto& [first, child] : node.children) below += visit(*child);
    if (node.value == 0 || !live(node.value)) return below;
    if (below >= 2) shared.push_back(node.value);
    return int64_t{1};
  };
  visit(*root_);
  return shared;
}

}  // namespace lockstep
