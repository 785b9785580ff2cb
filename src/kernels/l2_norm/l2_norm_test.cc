#include "kernels/l2_norm/l2_norm.h"

#include <gtest/gtest.h>

#include "kernels/contract/contexts.h"

namespace lockstep::contract {
namespace {

TEST(L2Norm, AZeroHeadStaysZero) {
  std::vector<float> x(3 * 16 + 5, 0.0f);
  run_l2_norm(default_context(),
              {.x = x.data(), .rows = 1, .stride = 53, .heads = 3, .n = 16, .scale = 0.09f});
  EXPECT_EQ(x, std::vector<float>(53, 0.0f));
}

}  // namespace
}  // namespace lockstep::contract
