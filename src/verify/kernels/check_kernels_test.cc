#include "verify/kernels/check_kernels.h"

#include <gtest/gtest.h>

#include "kernels/launch_log.h"

namespace lockstep::verify {
namespace {

const ShapeClass kAdd{.op = "add", .dims = {{"n", 33}}};

TEST(CheckKernels, RunsEveryGateAndEveryControl) {
  uint64_t steps = 0, total = 0;
  const std::vector<KernelCheck> checks =
      check_kernels({&kAdd, 1}, {.on_check = {}, .on_step = [&](uint64_t done, uint64_t all) {
                                   steps = done;
                                   total = all;
                                   return true;
                                 }});
  EXPECT_EQ(checks.size(), std::size(contract::kGates) + contract::planted_defects().size());
  EXPECT_EQ(steps, total);
  for (const KernelCheck& check : checks) EXPECT_TRUE(check.passed) << to_line(check);
  EXPECT_TRUE(green(checks));
  EXPECT_TRUE(summary(checks).starts_with("verify kernels: GREEN, 5 gates at 1 shapes of 1 ops; "));
}

TEST(CheckKernels, AnOpWithoutContractIsRed) {
  const ShapeClass stranger{.op = "stranger", .dims = {}};
  const std::vector<KernelCheck> checks = check_kernels({&stranger, 1}, {});
  EXPECT_FALSE(green(checks));
  EXPECT_EQ(to_line(checks.front()).substr(0, 20), "G1  FAIL  stranger  ");
}

TEST(CheckKernels, AControlThatStaysGreenIsRed) {
  std::vector<KernelCheck> checks = check_kernels({&kAdd, 1}, {});
  checks.back().passed = false;
  EXPECT_FALSE(green(checks));
  EXPECT_NE(summary(checks).find("RED, 0 of"), std::string::npos);
}

TEST(CheckKernels, StopsWhenToldTo) {
  const KernelsProgress once = {.on_check = {},
                                .on_step = [](uint64_t, uint64_t) { return false; }};
  EXPECT_EQ(check_kernels({&kAdd, 1}, once).size(), 1u);
}

TEST(CheckKernels, NothingCheckedIsRed) {
  EXPECT_FALSE(green({}));
  EXPECT_EQ(summary({}), "verify kernels: RED, nothing was checked");
}

TEST(Only, LooksInOpAndEncoding) {
  const ShapeClass classes[] = {kAdd, {.op = "linear", .dims = {{"n", 3}}, .label = "4 bits"}};
  EXPECT_EQ(only(classes, "add").size(), 1u);
  EXPECT_EQ(only(classes, "4 bits").front().op, "linear");
  EXPECT_EQ(only(classes, "").size(), 2u);
  EXPECT_TRUE(only(classes, "rope").empty());
}

}  // namespace
}  // namespace lockstep::verify
