#include "runtime/memory_plan.h"

#include <gtest/gtest.h>

#include "runtime/engine_options.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

class MemoryPlanTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = new Model(open_model(tiny_model_folder())); }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }
  static Model* model_;
};
Model* MemoryPlanTest::model_ = nullptr;

TEST_F(MemoryPlanTest, CountsWhatTheModelTakes) {
  const MemorySetup setup = {
      .context = 1000, .streams = 3, .pages = 40, .cache_bytes = 12345, .round_rows = 32};
  const MemoryPlan plan = plan_memory(*model_, setup);
  // 2 attention layers, 2 heads of keys and of values, 256 wide, bf16, 40 pages of 64 positions;
  // the draft head's one layer, and a page of it more for each stream.
  EXPECT_EQ(plan.kv, (2u * 40 + 40 + 3) * 2 * 2 * 256 * 2 * 64);
  // 6 delta layers of 4 x 128 x 128 state and 3 x 1024 convolution rows, three times, and windows
  // of 9 rows of 1024 channels and 4 heads' decay and beta, float32.
  EXPECT_EQ(plan.state, 3u * 6 * (3 * (4 * 128 * 128 + 3 * 1024) + 9 * (1024 + 2 * 4)) * 4);
  EXPECT_GT(plan.weights, 12'000'000u);
  EXPECT_LT(plan.weights, 15'000'000u);
  EXPECT_EQ(plan.workspace, ForwardPass::workspace_bytes(
                                model_->config(), {.rows = 32, .logit_rows = 3 + kSpareLogitRows}));
  EXPECT_EQ(plan.cache, 12345u);
}

TEST_F(MemoryPlanTest, WhateverIsFreeThePlanFits) {
  const uint64_t least = plan_memory(*model_, {.context = 256, .streams = 1, .pages = 5}).total();
  for (const uint64_t more :
       {0ull, 1ull, 1'000'000ull, 30'000'000ull, 300'000'000ull, 1ull << 40}) {
    const auto setup = fit_memory(*model_, {}, least + more);
    ASSERT_TRUE(setup.ok()) << setup.error().message;
    EXPECT_LE(plan_memory(*model_, setup.value()).total(), least + more);
    EXPECT_GE(setup.value().pages, EngineOptions::least_pages(setup.value().context));
  }
  const MemorySetup roomy = fit_memory(*model_, {}, uint64_t{1} << 40).value();
  EXPECT_EQ(roomy.context, 32768);
  EXPECT_EQ(roomy.streams, kDefaultStreams);
  EXPECT_EQ(roomy.cache_bytes, kDefaultCacheBytes);
  EXPECT_EQ(roomy.pages, 16 * 513) << "every stream can have the whole context";
}

TEST_F(MemoryPlanTest, TheContextIsAsLongAsFitsAndAPageMoreDoesNot) {
  const MemoryWish wish = {.streams = 1, .cache_bytes = 0};
  const uint64_t available =
      plan_memory(*model_, {.context = 5056, .streams = 1, .pages = 80}).total() + 100;
  const MemorySetup setup = fit_memory(*model_, wish, available).value();
  EXPECT_EQ(setup.context, 5056);  // 79 pages, and one for a shared end
  EXPECT_EQ(setup.pages, 80);
  MemoryWish more = wish;
  more.context = 5057;
  EXPECT_FALSE(fit_memory(*model_, more, available).ok());
}

TEST_F(MemoryPlanTest, AWishThatDoesNotFitIsRefusedWithTheNumbersThatWould) {
  const uint64_t available =
      plan_memory(*model_, {.context = 5056, .streams = 1, .pages = 80}).total();
  const auto result =
      fit_memory(*model_, {.context = 30000, .streams = 2, .cache_bytes = 1 << 20}, available);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfMemory);
  for (const char* term : {"a context of 30000 for 2 streams", "weights", "keys and values",
                           "state", "workspace", "1.0 MiB prompt cache", "reserve", "are free",
                           "a context of 5056 for one stream without a cache would fit"}) {
    EXPECT_NE(result.error().message.find(term), std::string::npos) << result.error().message;
  }
  EXPECT_NE(fit_memory(*model_, {}, 1000).error().message.find("not even the least fits"),
            std::string::npos);
}

TEST(FormatBytes, ThreeDigitsAtMostBeforeTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(uint64_t{200} << 20), "200 MiB");
  EXPECT_EQ(format_bytes(uint64_t{5} << 50), "5120 TiB");
}

}  // namespace
}  // namespace lockstep
