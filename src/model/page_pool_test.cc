#include "model/page_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/sequence_state.h"

namespace lockstep {
namespace {

constexpr StateShape kShape = {.delta_layers = 1,
                               .attention_layers = 2,
                               .conv_floats = 3,
                               .delta_floats = 5,
                               .kv = {.kv_heads = 1, .head_dim = 64}};

TEST(PagePool, GivesNoMoreThanItsCapacityAndReusesWhatComesBack) {
  const auto pool = PagePool::make(256, 2);
  auto first = pool->take();
  const auto second = pool->take();
  EXPECT_EQ(pool->take(), nullptr);
  EXPECT_EQ(pool->taken(), 2);
  const KvPage* where = first.get();
  first->data()[7] = std::byte{1};
  first.reset();
  EXPECT_EQ(pool->taken(), 1);
  const auto third = pool->take();
  EXPECT_EQ(third.get(), where);
  EXPECT_TRUE(std::all_of(third->data(), third->data() + 256, [](std::byte b) {
    return b == std::byte{0};
  })) << "what one sequence wrote must not reach the next";
}

TEST(PagePool, APageOutlivesItsPool) {
  auto pool = PagePool::make(64, 1);
  const auto page = pool->take();
  pool.reset();
  page->data()[63] = std::byte{1};
}

TEST(PagePool, RecurrentStatesAreUsedAgain) {
  const auto pool = PagePool::make(64, 1);
  auto state = pool->take_state(8);
  const RecurrentState* where = state.get();
  EXPECT_EQ(state->size(), 8u);
  state.reset();
  EXPECT_EQ(pool->take_state(8).get(), where);
  EXPECT_EQ(pool->take_state(9)->size(), 9u) << "one of another size is none";
}

// Writes `value` everywhere in a round of one row.
void run_row(SequenceState& sequence, float value) {
  ASSERT_TRUE(sequence.begin_round(1).ok());
  std::fill_n(sequence.conv_out(0), kShape.layer_floats(), value);
  sequence.commit(1);
}

// A snapshot costs no copy: whoever runs on writes elsewhere, however often.
TEST(SequencePages, RecurrentStateIsSharedUntilARoundWrites) {
  const auto pool = PagePool::make(kShape.page_bytes(), 8);
  SequenceState sequence(kShape, pool);
  run_row(sequence, 1.0f);
  SequenceState copy = sequence.snapshot();
  EXPECT_EQ(copy.conv_in(0), sequence.conv_in(0));
  for (const float value : {2.0f, 3.0f, 4.0f}) run_row(sequence, value);
  EXPECT_EQ(*copy.conv_in(0), 1.0f);
  sequence.assign(copy);
  sequence.clear();
  EXPECT_EQ(*copy.conv_in(0), 1.0f);
  EXPECT_EQ(*sequence.conv_in(0), 0.0f);
}

TEST(SequencePages, AFullPoolIsAnErrorThatNamesThePosition) {
  const auto pool = PagePool::make(kShape.page_bytes(), 2);
  SequenceState sequence(kShape, pool);
  EXPECT_EQ(sequence.pages_needed(129), 3);
  const Status status = sequence.begin_round(129);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "all 2 pages of keys and values are taken, position 128 needs one more");
}

TEST(SequencePages, SharedPagesAreCopiedByWhoWritesAndGivenBackByTheLast) {
  const auto pool = PagePool::make(kShape.page_bytes(), 8);
  SequenceState sequence(kShape, pool);
  ASSERT_TRUE(sequence.begin_round(70).ok());
  sequence.commit(70);
  SequenceState copy = sequence.snapshot();
  EXPECT_EQ(pool->taken(), 2);
  EXPECT_EQ(copy.pages_needed(1), 1) << "the second page is shared";
  ASSERT_TRUE(copy.begin_round(1).ok());
  EXPECT_EQ(pool->taken(), 3);
  EXPECT_EQ(copy.blocks(0)[0], sequence.blocks(0)[0]);
  EXPECT_NE(copy.blocks(0)[1], sequence.blocks(0)[1]);
  EXPECT_EQ(sequence.pages_needed(1), 0) << "its own again";
  copy.clear();
  EXPECT_EQ(copy.position(), 0);
  sequence.clear();
  EXPECT_EQ(pool->taken(), 0);
}

}  // namespace
}  // namespace lockstep
