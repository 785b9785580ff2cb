#include "runtime/prompt_cache/prompt_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "runtime/prompt_cache/fake_model_test.h"

namespace lockstep {
namespace {

using Ids = std::vector<int32_t>;

std::unique_ptr<PromptCache> open_cache(uint64_t bytes, int64_t index_ids = 4'000'000) {
  return PromptCache::open({.memory_bytes = bytes, .min_tokens = 4, .index_ids = index_ids},
                           fake_state)
      .value();
}

Ids count_from(int32_t first, size_t length) {
  Ids ids(length);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Ids joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void save(PromptCache& cache, const Ids& ids, std::string_view salt = "") {
  cache.save(ids, salt, SaveKind::kInterval, state_after(ids));
}

constexpr uint64_t kRoom = uint64_t{1} << 30;
const uint64_t kPage = fake_shape().page_bytes();
const uint64_t kRecurrent = fake_shape().recurrent_floats() * sizeof(float);

// What the cache must do, by its definition: a list of states, searched from end to end.
class ListCache {
 public:
  explicit ListCache(uint64_t budget) : budget_(budget) {}

  struct Entry {
    std::string salt;
    Ids ids;
    uint64_t last_use;
    std::optional<SequenceState> state;
  };

  std::pair<int64_t, MissReason> find(const Ids& prompt, const std::string& salt) {
    ++clock_;
    Entry* best = nullptr;
    for (Entry& entry : entries_) {
      const bool usable = entry.salt == salt && entry.state && entry.ids.size() < prompt.size() &&
                          begins_with(prompt, entry.ids);
      if (usable && (best == nullptr || entry.ids.size() > best->ids.size())) best = &entry;
    }
    if (best != nullptr) best->last_use = clock_;
    const int64_t length = best == nullptr ? 0 : static_cast<int64_t>(best->ids.size());
    return {length, reason(prompt, salt, length)};
  }

  void save(const Ids& ids, const std::string& salt, const SequenceState& state) {
    ++clock_;
    if (ids.size() < 4) return;
    auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.salt == salt && entry.ids == ids;
    });
    if (at != entries_.end() && at->state) return;
    if (at == entries_.end()) at = entries_.insert(at, {salt, ids, 0, std::nullopt});
    at->state = state.snapshot();
    at->last_use = clock_;
    while (bytes() > budget_ && drop_least(&*at)) {
    }
  }

  uint64_t bytes() const {
    std::set<const std::byte*> pages;
    uint64_t bytes = 0;
    for (const Entry& entry : entries_) {
      if (!entry.state) continue;
      bytes += kRecurrent;
      const auto count = (entry.ids.size() + kKvBlock - 1) / kKvBlock;
      pages.insert(entry.state->blocks(0), entry.state->blocks(0) + count);
    }
    return bytes + pages.size() * kPage;
  }

  int64_t states() const {
    return std::count_if(entries_.begin(), entries_.end(),
                         [](const Entry& entry) { return entry.state.has_value(); });
  }

 private:
  static bool begins_with(const Ids& ids, const Ids& start) {
    return ids.size() >= start.size() && std::equal(start.begin(), start.end(), ids.begin());
  }

  bool is_shared(const Entry& entry) const {
    std::vector<const Ids*> below;
    for (const Entry& other : entries_) {
      const bool follows = other.state && other.salt == entry.salt &&
                           other.ids.size() > entry.ids.size() && begins_with(other.ids, entry.ids);
      if (follows) below.push_back(&other.ids);
    }
    const auto direct = std::count_if(below.begin(), below.end(), [&](const Ids* a) {
      return std::none_of(below.begin(), below.end(),
                          [&](const Ids* b) { return a != b && begins_with(*a, *b); });
    });
    return direct >= 2;
  }

  bool drop_least(const Entry* spared) {
    Entry* least = nullptr;
    for (Entry& entry : entries_) {
      if (!entry.state || &entry == spared) continue;
      if (least == nullptr || std::pair(is_shared(entry), entry.last_use) <
                                  std::pair(is_shared(*least), least->last_use)) {
        least = &entry;
      }
    }
    if (least != nullptr) least->state.reset();
    return least != nullptr;
  }

  MissReason reason(const Ids& prompt, const std::string& salt, int64_t resumed) const {
    const auto length = static_cast<int64_t>(prompt.size());
    if (resumed == length - 1) return MissReason::kNone;
    if (length <= 4) return MissReason::kBelowMinimum;
    if (entries_.empty()) return MissReason::kEmpty;
    int64_t matched = 0;
    bool any = false, evicted = false, follows = false, at_end = false;
    for (const Entry& entry : entries_) {
      if (entry.salt != salt) continue;
      any = true;
      const auto size = static_cast<int64_t>(entry.ids.size());
      evicted |= size > resumed && size < length && begins_with(prompt, entry.ids) && !entry.state;
      at_end |= entry.ids == prompt;
      const int64_t common = common_length(entry.ids, prompt);
      if (common > matched) follows = false;
      matched = std::max(matched, common);
      if (common == matched) follows |= size > matched;
    }
    if (!any) return MissReason::kOtherSalt;
    if (evicted) return MissReason::kEvicted;
    if (matched < length) return follows ? MissReason::kDiverged : MissReason::kNewText;
    return at_end ? MissReason::kNoRowLeft : MissReason::kNoSavePoint;
  }

  static int64_t common_length(const Ids& a, const Ids& b) {
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  }

  uint64_t budget_;
  uint64_t clock_ = 0;
  std::vector<Entry> entries_;
};

Ids random_prompt(std::mt19937_64& engine, const std::vector<Ids>& seen) {
  Ids ids;
  if (!seen.empty() && engine() % 5 != 0) {
    const Ids& other = seen[engine() % seen.size()];
    ids.assign(other.begin(), other.begin() + static_cast<int64_t>(engine() % (other.size() + 1)));
  }
  const size_t more = engine() % 4 == 0 ? engine() % 90 : engine() % 8;
  for (size_t i = 0; i < more && ids.size() < 200; ++i) {
    ids.push_back(static_cast<int32_t>(engine() % 3));
  }
  if (ids.empty()) ids.push_back(1);
  return ids;
}

// As an engine uses it: resume, read on, save on the way. Every state handed out has the bytes of a
// cold run.
TEST(PromptCache, EqualsAListThatIsSearchedFromEndToEnd) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 engine(seed);
    const uint64_t budget = seed % 3 == 0 ? kRoom : (4 + seed) * kPage;
    const auto cache = open_cache(budget);
    ListCache list(budget);
    std::vector<Ids> seen;
    for (int step = 0; step < 120; ++step) {
      const Ids prompt = random_prompt(engine, seen);
      const std::string salt = engine() % 4 == 0 ? "b" : "a";
      seen.push_back(prompt);
      const CacheLookup lookup = cache->find(prompt, salt);
      const auto [length, reason] = list.find(prompt, salt);
      ASSERT_EQ(lookup.length, length) << seed << " " << step;
      ASSERT_EQ(to_string(lookup.reason), to_string(reason)) << seed << " " << step;
      ASSERT_EQ(lookup.state != nullptr, length > 0);
      SequenceState state = lookup.state ? lookup.state->snapshot() : fake_state();
      for (size_t at = static_cast<size_t>(length); at < prompt.size(); ++at) {
        run_row(state, prompt[at]);
        if (engine() % 9 != 0 && at + 2 != prompt.size()) continue;
        const Ids ids(prompt.begin(), prompt.begin() + static_cast<int64_t>(at) + 1);
        cache->save(ids, salt, SaveKind::kInterval, state.snapshot());
        list.save(ids, salt, state);
      }
      ASSERT_EQ(bytes_of(state), bytes_of(state_after(prompt))) << seed << " " << step;
      const PromptCacheCounts counts = cache->counts();
      ASSERT_EQ(counts.bytes, list.bytes()) << seed << " " << step;
      ASSERT_EQ(counts.states, list.states()) << seed << " " << step;
      ASSERT_LE(counts.bytes, budget);
    }
  }
}

TEST(PromptCache, AHitLeavesOneRowAtLeast) {
  const auto cache = open_cache(kRoom);
  const Ids ids = count_from(10, 20);
  for (const size_t length : {5u, 19u, 20u})
    save(*cache, {ids.begin(), ids.begin() + int64_t(length)});
  EXPECT_EQ(cache->find(ids, "").length, 19);
  EXPECT_EQ(cache->find(ids, "").reason, MissReason::kNone);
  EXPECT_EQ(cache->find(Ids(ids.begin(), ids.begin() + 19), "").length, 5);
  EXPECT_EQ(cache->find(joined(ids, {1}), "").length, 20);
}

TEST(PromptCache, ASaltSeesItsOwnStatesAlone) {
  const auto cache = open_cache(kRoom);
  const Ids ids = count_from(10, 20), prompt = count_from(10, 30);
  save(*cache, ids, "alice");
  EXPECT_EQ(cache->find(prompt, "alice").length, 20);
  for (const char* salt : {"", "bob", "alic", "alice "}) {
    const CacheLookup lookup = cache->find(prompt, salt);
    EXPECT_EQ(lookup.state, nullptr) << salt;
    EXPECT_EQ(lookup.matched, 0) << salt;
    EXPECT_EQ(lookup.reason, MissReason::kOtherSalt);
    EXPECT_TRUE(cache->wants(ids, salt));
  }
  EXPECT_FALSE(cache->wants(ids, "alice"));
}

TEST(PromptCache, EveryMissSaysWhy) {
  const auto cache = open_cache(3 * (kPage + kRecurrent), 90);
  const auto reason = [&](const Ids& prompt) { return cache->find(prompt, "").reason; };
  const Ids a = count_from(10, 20);
  EXPECT_EQ(reason(a), MissReason::kEmpty);
  save(*cache, a);
  EXPECT_EQ(reason(count_from(10, 4)), MissReason::kBelowMinimum);
  EXPECT_EQ(reason(a), MissReason::kNoRowLeft);
  EXPECT_EQ(reason(count_from(10, 15)), MissReason::kNoSavePoint);
  EXPECT_EQ(reason(count_from(10, 22)), MissReason::kNewText);
  EXPECT_EQ(reason(count_from(10, 21)), MissReason::kNone);
  const CacheLookup other = cache->find(joined(count_from(10, 7), {1, 2, 3}), "");
  EXPECT_EQ(other.reason, MissReason::kDiverged);
  EXPECT_EQ(other.matched, 7);
  EXPECT_EQ(other.parted, 7);
  EXPECT_EQ(other.describe(10), "0 of 10 tokens resumed; saved prompts differ from token 7 on");
  for (const int32_t first : {100, 200, 300}) save(*cache, count_from(first, 20));
  // Beyond 90 ids what is neither in memory nor on disk is forgotten.
  EXPECT_EQ(reason(count_from(10, 25)), MissReason::kEvicted);
  save(*cache, count_from(400, 20));
  EXPECT_EQ(reason(count_from(10, 25)), MissReason::kDiverged);
  const PromptCacheCounts counts = cache->counts();
  EXPECT_EQ(counts.lookups[size_t(MissReason::kEvicted)], 1);
  EXPECT_EQ(std::accumulate(counts.lookups.begin(), counts.lookups.end(), int64_t{0}), 9);
}

TEST(PromptCache, PagesThatStatesShareCountOnce) {
  const auto cache = open_cache(kRoom);
  SequenceState state = fake_state();
  const Ids ids = count_from(0, 300);
  for (const size_t length : {100u, 128u, 200u, 299u}) {
    run_rows(state,
             std::span(ids).subspan(size_t(state.position()), length - size_t(state.position())));
    cache->save(std::span(ids).first(length), "", SaveKind::kInterval, state.snapshot());
  }
  // Pages: [0, 64) by all; [64, 128) as it was after 100, and whole by three; then [128, 192) by
  // two, [192, 256) after 200 and whole, [256, 299).
  EXPECT_EQ(cache->counts().bytes, 4 * kRecurrent + 7 * kPage);
}

TEST(PromptCache, ASharedPrefixOutlivesWhatFollowsIt) {
  const auto cache = open_cache(6 * (kPage + kRecurrent));
  const Ids system = count_from(10, 30);
  save(*cache, system);
  for (int32_t turn = 0; turn < 30; ++turn) {
    save(*cache, joined(system, count_from(1000 * (turn + 1), 10)));
    save(*cache, count_from(100 * turn + 50, 12));  // of no use to anyone
    if (turn < 1) continue;
    EXPECT_EQ(cache->find(joined(system, {1, 2, 3}), "other").length, 0);
    EXPECT_NE(cache->find(joined(system, count_from(1000 * (turn + 1), 11)), "").length, 0);
  }
  EXPECT_EQ(cache->find(joined(system, {1, 2, 3}), "").length, 30);
}

TEST(PromptCache, AStateBeyondTheBudgetIsNotKept) {
  const auto cache = open_cache(2 * kPage);
  save(*cache, count_from(0, 30));
  save(*cache, count_from(0, 129));
  const PromptCacheCounts counts = cache->counts();
  EXPECT_EQ(counts.too_large, 1);
  EXPECT_EQ(counts.evicted, 0);
  EXPECT_EQ(counts.states, 1);
  const auto off = open_cache(0);
  EXPECT_FALSE(off->wants(count_from(0, 30), ""));
  save(*off, count_from(0, 30));
  EXPECT_EQ(off->counts().saved, 0);
}

TEST(PromptCache, ReleasingGivesUpStatesOneByOne) {
  const auto cache = open_cache(kRoom);
  for (int32_t first = 0; first < 5; ++first) save(*cache, count_from(100 * first, 10));
  cache->find(count_from(0, 11), "");
  for (int64_t left = 4; left >= 0; --left) {
    EXPECT_TRUE(cache->release_one());
    EXPECT_EQ(cache->counts().states, left);
    EXPECT_EQ(cache->find(count_from(0, 11), "").length, left == 0 ? 0 : 10);
  }
  EXPECT_FALSE(cache->release_one());
  EXPECT_EQ(cache->counts().bytes, 0u);
}

// What a lookup hands out stays whole whatever the cache and the sequences do afterwards.
TEST(PromptCache, AStateInUseOutlivesItsEntry) {
  const auto cache = open_cache(kRoom);
  const Ids ids = count_from(10, 70);
  save(*cache, ids);
  const CacheLookup lookup = cache->find(joined(ids, {1}), "");
  const std::vector<std::byte> before = bytes_of(*lookup.state);
  while (cache->release_one()) {
  }
  SequenceState a = lookup.state->snapshot(), b = lookup.state->snapshot();
  run_rows(a, count_from(0, 70));
  run_rows(b, count_from(500, 70));
  EXPECT_EQ(bytes_of(*lookup.state), before);
  EXPECT_EQ(bytes_of(a), bytes_of(state_after(joined(ids, count_from(0, 70)))));
  EXPECT_EQ(bytes_of(b), bytes_of(state_after(joined(ids, count_from(500, 70)))));
}

}  // namespace
}  // namespace lockstep
