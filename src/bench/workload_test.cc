#include "bench/workload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/tiny_model_test.h"

namespace lockstep::bench {
namespace {

class Workload : public ::testing::Test {
 protected:
  Model model_ = open_model(tiny_model_folder());
  ThreadPool pool_{1};
  ForwardPass pass_{model_, {.pool = pool_, .isa = best_isa()}, {.rows = 16, .logit_rows = 2}};
};

TEST_F(Workload, IdsAreSeededAndKnown) {
  const std::vector<int32_t> ids = random_ids(model_, 1000, 7);
  EXPECT_EQ(ids, random_ids(model_, 1000, 7));
  EXPECT_NE(ids, random_ids(model_, 1000, 8));
  EXPECT_GE(*std::ranges::min_element(ids), 0);
  EXPECT_LT(*std::ranges::max_element(ids), model_.token_limit());
}

TEST_F(Workload, PromptsAreReadWhole) {
  const auto sequence = read_prompt(pass_, random_ids(model_, 37, 1));
  ASSERT_TRUE(sequence.ok());
  EXPECT_EQ(sequence.value().position(), 37);
  const auto seconds = time_prefill(pass_, 20);
  ASSERT_TRUE(seconds.ok());
  EXPECT_GT(seconds.value(), 0.0);
}

TEST_F(Workload, StreamsDecodeTogetherUpToThePassLimit) {
  auto loop = DecodeLoop::make(pass_, 2, 5);
  ASSERT_TRUE(loop.ok());
  const auto seconds = loop.value().time_rounds(pass_, 3);
  ASSERT_TRUE(seconds.ok());
  EXPECT_GT(seconds.value(), 0.0);
  auto too_many = DecodeLoop::make(pass_, 3, 0);
  ASSERT_TRUE(too_many.ok());
  EXPECT_FALSE(too_many.value().time_rounds(pass_, 1).ok());
}

}  // namespace
}  // namespace lockstep::bench
