#include "text/byte_pair_encoder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace lockstep {
namespace {

using Merges = std::vector<Merge>;

std::array<int32_t, 256> plain_bytes() {
  std::array<int32_t, 256> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens[byte] = byte;
  return tokens;
}

// Merges over the letters a to d, each of two tokens that exist by then, to a distinct text.
Merges random_merges(std::mt19937& random, int count) {
  std::map<int32_t, std::string> texts = {{'a', "a"}, {'b', "b"}, {'c', "c"}, {'d', "d"}};
  std::map<std::string, int32_t> ids;
  std::vector<int32_t> tokens = {'a', 'b', 'c', 'd'};
  std::set<std::pair<int32_t, int32_t>> pairs;
  Merges merges;
  while (static_cast<int>(merges.size()) < count) {
    const int32_t left = tokens[random() % tokens.size()];
    const int32_t right = tokens[random() % tokens.size()];
    const std::string text = texts[left] + texts[right];
    if (text.size() > 12 || !pairs.emplace(left, right).second) continue;
    const auto [id, added] = ids.try_emplace(text, 256 + static_cast<int32_t>(ids.size()));
    if (added) {
      tokens.push_back(id->second);
      texts[id->second] = text;
    }
    merges.push_back({left, right, id->second});
  }
  std::shuffle(merges.begin(), merges.end(), random);
  return merges;
}

// The definition: look for the pair of lowest rank, leftmost, and merge it.
std::vector<int32_t> encode_by_definition(const Merges& merges, std::string_view word) {
  std::vector<int32_t> tokens(word.begin(), word.end());
  while (true) {
    size_t best_rank = merges.size();
    size_t best = 0;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      for (size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].left == tokens[i] && merges[rank].right == tokens[i + 1]) {
          best_rank = rank;
          best = i;
        }
      }
    }
    if (best_rank == merges.size()) return tokens;
    tokens[best] = merges[best_rank].merged;
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

TEST(BytePairEncoder, MergesByTheDefinitionAtEveryLength) {
  std::mt19937 random(20261129);
  for (int round = 0; round < 60; ++round) {
    const Merges merges = random_merges(random, 1 + static_cast<int>(random() % 40));
    const BytePairEncoder encoder(MergeTable(merges, plain_bytes()));
    BytePairEncoder::Workspace workspace;
    // Both sides of 256, where the way of merging changes.
    for (const size_t length : {0u, 1u, 2u, 3u, 7u, 31u, 255u, 256u, 257u, 400u}) {
      std::string word(length, ' ');
      const uint32_t letters = 1 + random() % 4;
      for (char& c : word) c = static_cast<char>('a' + random() % letters);
      std::vector<int32_t> tokens = {-7};  // what was there stays
      encoder.encode(word, workspace, tokens);
      std::vector<int32_t> expected = encode_by_definition(merges, word);
      expected.insert(expected.begin(), -7);
      ASSERT_EQ(tokens, expected) << "round " << round << " word " << word;
    }
  }
}

TEST(BytePairEncoder, TakesTheLastOfEqualPairs) {
  const Merges merges = {{'a', 'b', 300}, {'b', 'c', 301}, {'a', 'b', 300}};
  const BytePairEncoder encoder(MergeTable(merges, plain_bytes()));
  BytePairEncoder::Workspace workspace;
  std::vector<int32_t> tokens;
  encoder.encode("abc", workspace, tokens);
  EXPECT_EQ(tokens, (std::vector<int32_t>{'a', 301}));
}

TEST(MergeTable, FindsEveryPairAndNoOther) {
  std::mt19937 random(20261129);
  std::map<std::pair<int32_t, int32_t>, uint32_t> ranks;
  Merges merges;
  for (uint32_t rank = 0; rank < 3000; ++rank) {  // with equal pairs, and long lists of partners
    const auto left = static_cast<int32_t>(random() % 40);
    const auto right = static_cast<int32_t>(random() % 300);
    merges.push_back({left, right, 300 + static_cast<int32_t>(rank)});
    ranks[{left, right}] = rank;
  }
  const int32_t top = MergeTable::kMaxTokens - 1;
  merges.push_back({top, top, top});
  const MergeTable table(merges, plain_bytes());
  for (int32_t left = 0; left < 300; ++left) {
    for (int32_t right = 0; right < 300; ++right) {
      const auto found = ranks.find({left, right});
      const uint32_t expected = found == ranks.end() ? MergeTable::kNoMerge : found->second;
      ASSERT_EQ(table.rank(left, right), expected) << left << " " << right;
      if (left > 255 || right > 255) continue;
      ASSERT_EQ(table.byte_rank(static_cast<uint8_t>(left), static_cast<uint8_t>(right)), expected);
    }
  }
  EXPECT_EQ(table.merged(table.rank(top, top)), top);
  EXPECT_EQ(table.rank(top, 1), MergeTable::kNoMerge);
}

}  // namespace
}  // namespace lockstep
