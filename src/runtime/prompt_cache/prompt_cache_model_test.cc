// A prompt that resumes has the bits of one that was read from its beginning, wherever it resumes.
#include <gtest/gtest.h>

#include <numeric>

#include "base/hash128.h"
#include "checkpoint/testing/temporary_folder.h"
#include "runtime/prompt_cache/fake_model_test.h"
#include "runtime/prompt_cache/prompt_cache.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

constexpr size_t kLength = 300;

struct Reading {
  std::vector<float> logits;  // of the last row
  Hash128 state;
};

class PromptCacheModel : public testing::TestWithParam<const char*> {
 protected:
  PromptCacheModel()
      : model_(open_model(models() / GetParam())), pass_(model_, 512), ids_(kLength) {
    for (size_t i = 0; i < ids_.size(); ++i) ids_[i] = static_cast<int32_t>(i * 7919 % 12000);
  }

  static std::filesystem::path models() {
    return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models";
  }

  SequenceState new_state() { return SequenceState(model_.state_shape()); }

  // Reads all ids that the state does not stand after, in one round.
  Reading run(SequenceState& state, size_t end) {
    const auto from = static_cast<size_t>(state.position());
    RowBatch batch;
    batch.segments = {{.sequence = &state, .rows = static_cast<int64_t>(end - from)}};
    batch.ids.assign(ids_.begin() + static_cast<int64_t>(from),
                     ids_.begin() + static_cast<int64_t>(end));
    batch.logit_rows = {batch.rows() - 1};
    const RoundOutput output = pass_.get().forward(batch).value();
    EXPECT_TRUE(output.faults.empty());
    Reading result{{output.logits.begin(), output.logits.end()}, {}};
    pass_.get().commit(batch);
    result.state = hash128(bytes_of(state));
    return result;
  }

  Reading cold(size_t length) {
    SequenceState state = new_state();
    return run(state, length);
  }

  std::unique_ptr<PromptCache> open(const std::filesystem::path& folder = {}) {
    PromptCacheOptions options{.memory_bytes = uint64_t{1} << 30, .min_tokens = 1};
    if (!folder.empty()) {
      options.disk = {
          .directory = folder, .bytes = uint64_t{1} << 30, .key = model_.precision_tuple()};
    }
    return PromptCache::open(options, [this] { return new_state(); }).value();
  }

  std::span<const int32_t> first(size_t length) const { return std::span(ids_).first(length); }

  void expect_same(const Reading& run, const Reading& other, size_t split) {
    ASSERT_EQ(run.logits.size(), other.logits.size());
    EXPECT_EQ(
        std::memcmp(run.logits.data(), other.logits.data(), run.logits.size() * sizeof(float)), 0)
        << "logits, split at " << split;
    EXPECT_EQ(run.state, other.state) << "state, split at " << split;
  }

  Model model_;
  TestPass pass_;
  std::vector<int32_t> ids_;
};

// One sequence saves as it goes, row by row, so that every state shares pages with the next and is
// written past by it. Each is resumed from: for two rows, and around the ends of pages past the
// next one.
TEST_P(PromptCacheModel, AHitAtEveryLengthHasTheBitsOfAColdRun) {
  std::vector<std::unique_ptr<PromptCache>> caches;
  std::vector<Reading> readings;  // after 1, 2, ... ids
  SequenceState state = new_state();
  for (size_t length = 1; length <= kLength; ++length) {
    readings.push_back(run(state, length));
    caches.push_back(open());
    caches.back()->save(first(length), "", SaveKind::kInterval, state.snapshot());
  }
  for (const size_t length : {1u, 64u, 65u, 300u}) {
    expect_same(readings[length - 1], cold(length), length);
  }
  for (size_t split = 1; split < kLength; ++split) {
    const bool near_page_end = (split + 1) % 64 < 3;
    const size_t end = std::min(kLength, split + (near_page_end ? 70 : 2));
    const CacheLookup lookup = caches[split - 1]->find(first(end), "");
    ASSERT_EQ(lookup.length, static_cast<int64_t>(split));
    SequenceState resumed = lookup.state->snapshot();
    expect_same(run(resumed, end), readings[end - 1], split);
  }
}

TEST_P(PromptCacheModel, AnIdenticalPromptCostsOneRow) {
  const auto cache = open();
  SequenceState state = new_state();
  run(state, kLength - 1);
  cache->save(first(kLength - 1), "", SaveKind::kPromptEnd, state.snapshot());
  const Reading fresh = run(state, kLength);
  const CacheLookup lookup = cache->find(ids_, "");
  EXPECT_EQ(lookup.reason, MissReason::kNone);
  ASSERT_EQ(lookup.length, static_cast<int64_t>(kLength) - 1);
  SequenceState resumed = lookup.state->snapshot();
  expect_same(run(resumed, kLength), fresh, kLength - 1);
  expect_same(fresh, cold(kLength), kLength - 1);
}

TEST_P(PromptCacheModel, AStateFromDiskHasTheBitsOfAColdRun) {
  const TemporaryFolder folder;
  const std::vector<size_t> splits = {1, 63, 64, 65, 128, 200};
  {
    const auto cache = open(folder.path() / "cache");
    SequenceState state = new_state();
    for (const size_t split : splits) {
      run(state, split);
      cache->save(first(split), "", SaveKind::kInterval, state.snapshot());
    }
  }
  for (const size_t split : splits) {
    const auto cache = open(folder.path() / "cache");
    const CacheLookup lookup = cache->find(first(split + 1), "");
    ASSERT_TRUE(lookup.from_disk);
    ASSERT_EQ(lookup.length, static_cast<int64_t>(split));
    EXPECT_EQ(hash128(bytes_of(*lookup.state)), cold(split).state) << split;
    SequenceState resumed = lookup.state->snapshot();
    expect_same(run(resumed, split + 66), cold(split + 66), split);
  }
}

INSTANTIATE_TEST_SUITE_P(Embedded, PromptCacheModel,
                         testing::Values("tiny-dense-mlx-4bit", "tiny-moe-mlx-4bit"),
                         [](const auto& param_info) {
                           return std::string(param_info.param).substr(5, 3) == "den" ? "Dense"
                                                                                      : "Moe";
                         });

}  // namespace
}  // namespace lockstep
