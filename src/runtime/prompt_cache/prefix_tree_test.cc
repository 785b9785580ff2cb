#include "runtime/prompt_cache/prefix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace lockstep {
namespace {

using Ids = std::vector<int32_t>;

bool begins_with(const Ids& ids, const Ids& start) {
  return ids.size() >= start.size() && std::equal(start.begin(), start.end(), ids.begin());
}

// The definition of a tree: a list of sequences with values, searched from end to end.
struct List {
  std::map<Ids, PrefixTree::Value> values;

  PrefixTree::Match match(const Ids& ids) const {
    PrefixTree::Match match;
    for (const auto& [saved, value] : values) {
      const auto ends = std::mismatch(saved.begin(), saved.end(), ids.begin(), ids.end());
      match.matched = std::max<int64_t>(match.matched, ends.first - saved.begin());
      if (begins_with(ids, saved)) {
        match.values.push_back({static_cast<int64_t>(saved.size()), value});
      }
    }
    for (const auto& [saved, value] : values) {
      const auto ends = std::mismatch(saved.begin(), saved.end(), ids.begin(), ids.end());
      match.other_follows |= ends.first - saved.begin() == match.matched &&
                             static_cast<int64_t>(saved.size()) > match.matched;
    }
    std::sort(match.values.begin(), match.values.end(),
              [](const auto& a, const auto& b) { return a.length < b.length; });
    return match;
  }

  // Distinct non-empty starts: each is one id of the tree.
  int64_t size() const {
    std::set<Ids> starts;
    for (const auto& [saved, value] : values) {
      for (size_t length = 1; length <= saved.size(); ++length) {
        starts.emplace(saved.begin(), saved.begin() + static_cast<int64_t>(length));
      }
    }
    return static_cast<int64_t>(starts.size());
  }

  std::set<PrefixTree::Value> shared(const std::function<bool(PrefixTree::Value)>& live) const {
    std::set<PrefixTree::Value> result;
    for (const auto& [saved, value] : values) {
      if (!live(value)) continue;
      std::vector<Ids> below;
      for (const auto& [other, its] : values) {
        if (other != saved && live(its) && begins_with(other, saved)) below.push_back(other);
      }
      const auto direct = std::count_if(below.begin(), below.end(), [&](const Ids& a) {
        return std::none_of(below.begin(), below.end(),
                            [&](const Ids& b) { return a != b && begins_with(a, b); });
      });
      if (direct >= 2) result.insert(value);
    }
    return result;
  }
};

Ids random_ids(std::mt19937_64& engine, const List& list) {
  Ids ids;
  // Often the start of what is there, so that paths share, split and end inside each other.
  if (!list.values.empty() && engine() % 4 != 0) {
    auto at = list.values.begin();
    std::advance(at, engine() % list.values.size());
    ids.assign(at->first.begin(),
               at->first.begin() + static_cast<int64_t>(engine() % (at->first.size() + 1)));
  }
  for (size_t more = engine() % 6; more > 0; --more)
    ids.push_back(static_cast<int32_t>(engine() % 3));
  return ids;
}

void expect_same(const PrefixTree::Match& found, const PrefixTree::Match& expected) {
  ASSERT_EQ(found.matched, expected.matched);
  ASSERT_EQ(found.other_follows, expected.other_follows);
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (size_t i = 0; i < found.values.size(); ++i) {
    ASSERT_EQ(found.values[i].length, expected.values[i].length);
    ASSERT_EQ(found.values[i].value, expected.values[i].value);
  }
}

TEST(PrefixTree, EqualsAListThatIsSearchedFromEndToEnd) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 engine(seed);
    PrefixTree tree;
    List list;
    std::map<Ids, PrefixTree::Node*> nodes;
    for (PrefixTree::Value value = 1; value <= 150; ++value) {
      const Ids ids = random_ids(engine, list);
      if (engine() % 3 == 0 && !nodes.empty()) {
        auto at = nodes.begin();
        std::advance(at, engine() % nodes.size());
        tree.erase(at->second);
        list.values.erase(at->first);
        nodes.erase(at);
      } else if (!ids.empty()) {
        nodes[ids] = tree.insert(ids, value);
        list.values[ids] = value;
      }
      ASSERT_EQ(tree.size(), list.size()) << seed << " " << value;
      ASSERT_EQ(tree.empty(), list.values.empty());
      for (int look = 0; look < 10; ++look) {
        const Ids wanted = random_ids(engine, list);
        expect_same(tree.match(wanted), list.match(wanted));
      }
      for (const auto& [saved, node] : nodes) ASSERT_EQ(PrefixTree::ids_of(node), saved);
      const auto live = [&](PrefixTree::Value v) { return v % 3 != 0; };
      const auto shared = tree.shared_values(live);
      ASSERT_EQ(std::set(shared.begin(), shared.end()), list.shared(live)) << seed << " " << value;
    }
  }
}

TEST(PrefixTree, ADeepChainIsTornDownInOrder) {
  PrefixTree tree;
  Ids ids;
  std::vector<PrefixTree::Node*> nodes;
  for (int32_t id = 0; id < 3000; ++id) {
    ids.push_back(id);
    nodes.push_back(tree.insert(ids, static_cast<uint64_t>(id) + 1));
  }
  EXPECT_EQ(tree.match(ids).values.size(), 3000u);
  EXPECT_EQ(tree.size(), 3000);
  for (size_t i = 0; i < nodes.size(); i += 2) tree.erase(nodes[i]);
  EXPECT_EQ(tree.match(ids).values.size(), 1500u);
  EXPECT_EQ(PrefixTree::ids_of(nodes[2999]), ids);
}

}  // namespace
}  // namespace lockstep
