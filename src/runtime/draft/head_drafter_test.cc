#include "runtime/draft/head_drafter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/testing/runner.h"
#include "runtime/draft/acceptance.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

constexpr int64_t kLength = 120;

// The trunk's hidden rows of a prompt, to be followed as a test likes.
class HeadDrafterTest : public ::testing::Test {
 protected:
  HeadDrafterTest()
      : model_(open_model(tiny_model_folder())),
        pool_(2),
        pass_(model_, {.pool = pool_, .isa = best_isa()}, {.rows = 128, .logit_rows = 4}),
        pages_(PagePool::make(model_.draft_state_shape().page_bytes(), 32)),
        drafter_(pass_, pages_),
        sampler_(Sampler::make({.temperature = 0.0}, model_.config().vocab_size, {}).value()) {
    for (int32_t i = 0; i <= kLength; ++i) ids_.push_back(400 + (i * i) % 700);
    SequenceState state(model_.state_shape());
    RowBatch batch;
    batch.segments = {{.sequence = &state, .rows = kLength}};
    batch.ids.assign(ids_.begin(), ids_.end() - 1);
    const Result<RoundOutput> output = pass_.forward(batch);
    hidden_.assign(output.value().hidden.begin(), output.value().hidden.end());
  }

  void follow(HeadState& head, int64_t from, int64_t to) {
    const auto width = static_cast<size_t>(model_.config().hidden_size);
    drafter_.follow(head, from,
                    std::span<const float>(hidden_).subspan(
                        static_cast<size_t>(from) * width, static_cast<size_t>(to - from) * width));
  }

  // With the first `length` ids of the text, and what the trunk has run of them.
  std::vector<int32_t> draft(HeadState& head, int64_t length, int64_t depth) {
    std::vector<int32_t> drafts;
    const HeadDrafter::Ask ask = {
        .head = &head,
        .ids = std::span<const int32_t>(ids_).first(static_cast<size_t>(length)),
        .sampler = &sampler_,
        .depth = depth,
        .drafts = &drafts};
    const Status status = drafter_.draft({&ask, 1});
    EXPECT_TRUE(status.ok());
    return drafts;
  }

  Model model_;
  ThreadPool pool_;
  ForwardPass pass_;
  std::shared_ptr<PagePool> pages_;
  HeadDrafter drafter_;
  Sampler sampler_;
  std::vector<int32_t> ids_;
  std::vector<float> hidden_;
};

// What is chained leaves nothing behind, and no cut of the trunk's rows shows.
TEST_F(HeadDrafterTest, ItsRowsAreThoseOfTheTextHoweverItWasFollowed) {
  HeadState whole;
  follow(whole, 0, kLength);
  const std::vector<int32_t> want = draft(whole, kLength + 1, 5);
  ASSERT_EQ(want.size(), 5u);
  HeadState pieces;
  int64_t position = 0;
  for (const int64_t step : {1, 2, 30, 1, 1, 63, 8, 1, 3, 10}) {
    follow(pieces, position, position + step);
    position += step;
    if (step != 2) draft(pieces, position + 1, step % kMostDrafts);
  }
  ASSERT_EQ(position, kLength);
  // All of it was read before, so that only the last row is new.
  HeadState again;
  follow(again, 0, kLength - 1);
  draft(again, kLength, 8);
  follow(again, kLength - 1, kLength);
  EXPECT_EQ(draft(again, kLength + 1, 5), want);
  EXPECT_EQ(testing::fingerprint(*again.state), testing::fingerprint(*whole.state));
  EXPECT_EQ(testing::fingerprint(*pieces.state), testing::fingerprint(*whole.state));
}

TEST_F(HeadDrafterTest, ManyAtOnceDraftWhatEachDraftsAlone) {
  constexpr int64_t kHeads = 6;  // more than rows of logits
  std::vector<HeadState> heads(kHeads);
  std::vector<std::vector<int32_t>> drafts(kHeads);
  std::vector<HeadDrafter::Ask> asks;
  for (int64_t i = 0; i < kHeads; ++i) {
    const int64_t length = kLength - 7 * i;
    const auto index = static_cast<size_t>(i);
    follow(heads[index], 0, length);
    asks.push_back({.head = &heads[index],
                    .ids = std::span<const int32_t>(ids_).first(static_cast<size_t>(length + 1)),
                    .sampler = &sampler_,
                    .depth = i == 3 ? 0 : 1 + i % 2,
                    .drafts = &drafts[index]});
  }
  ASSERT_TRUE(drafter_.draft(asks).ok());
  for (int64_t i = 0; i < kHeads; ++i) {
    const auto index = static_cast<size_t>(i);
    HeadState alone;
    follow(alone, 0, kLength - 7 * i);
    const std::vector<int32_t> want = draft(alone, kLength - 7 * i + 1, asks[index].depth);
    EXPECT_EQ(drafts[index].empty(), want.empty()) << i;
    if (!want.empty()) {
      EXPECT_EQ(drafts[index].front(), want.front()) << i;
    }
    EXPECT_EQ(testing::fingerprint(*heads[index].state), testing::fingerprint(*alone.state)) << i;
    drafter_.forget(alone);
  }
}

TEST_F(HeadDrafterTest, AGapMakesItBeginAnewAndForgettingGivesThePagesBack) {
  HeadState head;
  follow(head, 0, 80);
  draft(head, 81, 2);
  follow(head, 90, 100);
  EXPECT_EQ(drafter_.behind(head), 10);
  EXPECT_EQ(head.state->position(), 0);
  EXPECT_EQ(draft(head, 101, 3).size(), 3u);
  EXPECT_GT(pages_->taken(), 0);
  drafter_.forget(head);
  EXPECT_EQ(pages_->taken(), 0);
}

// At the end of what was followed, and before rows that the head has not read.
TEST_F(HeadDrafterTest, WhatIsSavedGoesOnAsIfNothingHadHappened) {
  HeadState head;
  follow(head, 0, 70);
  draft(head, 71, 3);
  follow(head, 70, 100);
  const auto middle = drafter_.snapshot(head, 80);
  const std::vector<int32_t> want = draft(head, 101, 4);
  const auto end = drafter_.snapshot(head, 100);
  ASSERT_NE(middle, nullptr);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(drafter_.snapshot(head, 99), nullptr) << "it has read beyond that";
  EXPECT_EQ(drafter_.snapshot(head, 101), nullptr);
  HeadState again;
  drafter_.restore(again, *middle);
  follow(again, 80, 100);
  EXPECT_EQ(draft(again, 101, 4), want);
  EXPECT_EQ(testing::fingerprint(*again.state), testing::fingerprint(*head.state));
  drafter_.restore(again, *end);
  follow(again, 100, kLength);
  follow(head, 100, kLength);
  EXPECT_EQ(draft(again, kLength + 1, 4), draft(head, kLength + 1, 4));
}

TEST_F(HeadDrafterTest, WithoutPagesThereAreNoDraftsAndItBeginsAnew) {
  const auto few = PagePool::make(model_.draft_state_shape().page_bytes(), 1);
  HeadDrafter drafter(pass_, few);
  HeadState head;
  drafter.follow(head, 0, hidden_);
  std::vector<int32_t> drafts;
  const HeadDrafter::Ask ask = {
      .head = &head, .ids = ids_, .sampler = &sampler_, .depth = 2, .drafts = &drafts};
  EXPECT_FALSE(drafter.draft({&ask, 1}).ok());
  EXPECT_TRUE(drafts.empty());
  EXPECT_EQ(few->taken(), 0);
}

}  // namespace
}  // namespace lockstep
