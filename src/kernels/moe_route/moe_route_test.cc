#include "kernels/moe_route/moe_route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/moe_route/reference.h"

namespace lockstep::contract {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Routes {
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

Routes route(const CpuContext& context, const std::vector<float>& logits, int64_t experts,
             int64_t chosen, int64_t begin, int64_t end) {
  Routes routes{std::vector<int32_t>(static_cast<size_t>((end - begin) * chosen), -1), {}};
  Guarded weights((end - begin) * chosen);
  run_moe_route(context, {.logits = logits.data() + begin * experts,
                          .rows = end - begin,
                          .experts = experts,
                          .chosen = chosen,
                          .ids = routes.ids.data(),
                          .weights = weights.data()});
  EXPECT_EQ(weights.check(), "");
  routes.weights = weights.copy();
  return routes;
}

TEST(MoeRoute, TiesGoToTheLowerId) {
  const Routes routes = route(default_context(), {1.0f, 2.0f, 2.0f, 0.0f, -0.0f, 2.0f}, 6, 5, 0, 1);
  EXPECT_EQ(routes.ids, (std::vector<int32_t>{1, 2, 5, 0, 3}));
  EXPECT_EQ(routes.weights[0], routes.weights[2]);
  EXPECT_EQ(route(default_context(), std::vector<float>(256, 0.5f), 256, 8, 0, 1).ids,
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(MoeRoute, NanRanksLastAndSpoilsItsRowOnly) {
  const std::vector<float> logits = {kNan, 1.0f, kNan, -kInfinity, 3.0f,  //
                                     0.0f, 1.0f, 2.0f, 3.0f,       4.0f,  //
                                     kNan, kNan, kNan, 1.0f,       kNan};
  const Routes routes = route(default_context(), logits, 5, 4, 0, 3);
  EXPECT_EQ(routes.ids, (std::vector<int32_t>{4, 1, 3, 0, 4, 3, 2, 1, 3, 0, 1, 2}));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(std::isnan(routes.weights[i]), i / 4 != 1) << i;
  std::vector<int32_t> ids(12);
  std::vector<double> weights(12);
  reference_moe_route({.logits = logits.data(), .rows = 3, .experts = 5, .chosen = 4}, ids.data(),
                      weights.data());
  EXPECT_EQ(routes.ids, ids);
  // A NaN among the experts that are not chosen spoils the row, too.
  EXPECT_TRUE(std::isnan(route(default_context(), {5.0f, kNan, 4.0f}, 3, 2, 0, 1).weights[0]));
}

TEST(MoeRoute, InfiniteLogitsFollowSoftmax) {
  const Routes low = route(default_context(), {-kInfinity, 1.0f, -kInfinity}, 3, 2, 0, 1);
  EXPECT_EQ(low.ids, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(low.weights, (std::vector<float>{1.0f, 0.0f}));
  EXPECT_TRUE(std::isnan(route(default_context(), {kInfinity, 1.0f}, 2, 2, 0, 1).weights[0]));
}

}  // namespace
}  // namespace lockstep::contract
