#include "kernels/add/add.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/add/reference.h"
#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"

namespace lockstep::contract {
namespace {

TEST(Add, IsTheRoundedSumInEveryContext) {
  for (int64_t n : {0, 1, 15, 16, 17, 33, 50001}) {
    Random random(1);
    std::vector<float> x = random.normals(n), y = random.normals(n, 1e-6);
    if (n == 33) x[7] = std::numeric_limits<float>::quiet_NaN();
    if (n == 33) x[8] = std::numeric_limits<float>::infinity();
    std::vector<double> exact(x.size());
    reference_add({.x = x.data(), .y = y.data(), .rows = 1, .n = n}, exact.data());
    const std::vector<float> want(exact.begin(), exact.end());
    for_each_context([&](const CpuContext& context, const std::string& name) {
      Guarded sum(n, x);
      run_add(context, {.x = sum.data(), .y = y.data(), .rows = 1, .n = n});
      EXPECT_EQ(sum.check(), "") << name;
      EXPECT_EQ(compare_bits({"add", {n}, 1}, sum.values(), want), "") << name;
    });
  }
}

}  // namespace
}  // namespace lockstep::contract
