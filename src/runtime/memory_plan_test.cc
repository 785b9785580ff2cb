#include "runtime/memory_plan.h"

#include <gtest/gtest.h>

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
  const PassLimits limits_ = {.rows = 32, .logit_rows = 1};
};
Model* MemoryPlanTest::model_ = nullptr;

TEST_F(MemoryPlanTest, CountsWhatTheModelTakes) {
  const MemoryPlan plan = plan_memory(*model_, limits_, 1000);
  // 2 attention layers, 2 heads of keys and of values, 256 wide, bf16, 16 pages of 64 positions.
  EXPECT_EQ(plan.kv, 2u * 2 * 2 * 256 * 2 * 1024);
  // 6 delta layers of 4 x 128 x 128 state and 3 x 1024 convolution rows, twice, float32.
  EXPECT_EQ(plan.state, 2u * 6 * (4 * 128 * 128 + 3 * 1024) * 4);
  EXPECT_GT(plan.weights, 12'000'000u);
  EXPECT_LT(plan.weights, 15'000'000u);
  EXPECT_EQ(plan.workspace, ForwardPass::workspace_bytes(model_->config(), limits_));
}

TEST_F(MemoryPlanTest, TheLargestContextFitsAndOnePageMoreDoesNot) {
  const uint64_t available = plan_memory(*model_, limits_, 5000).total() + 100;
  const int64_t context = largest_context(*model_, limits_, available).value();
  EXPECT_EQ(context, 5056);  // 79 pages
  EXPECT_TRUE(check_fits(plan_memory(*model_, limits_, context), context, available).ok());
  EXPECT_FALSE(check_fits(plan_memory(*model_, limits_, context + 1), context, available).ok());
  EXPECT_EQ(largest_context(*model_, limits_, uint64_t{1} << 50).value(), 32768);
}

TEST_F(MemoryPlanTest, APlanThatDoesNotFitNamesEveryTerm) {
  const auto result = largest_context(*model_, limits_, 1000);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfMemory);
  for (const char* term :
       {"weights", "keys and values", "state", "workspace", "reserve", "1000 B are free"}) {
    EXPECT_NE(result.error().message.find(term), std::string::npos) << result.error().message;
  }
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
