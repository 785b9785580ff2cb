#include "sampling/settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace lockstep {
namespace {

TEST(SamplingSettings, NeutralDefaultsAndLimitsAreAccepted) {
  EXPECT_TRUE(check_settings({}).ok());
  EXPECT_TRUE(check_settings({.temperature = 0.0}).ok());
  EXPECT_TRUE(
      check_settings({.temperature = 100.0, .top_k = 2147483647, .top_p = 1e-300, .min_p = 1.0})
          .ok());
}

TEST(SamplingSettings, EachOutOfRangeSettingIsRefusedByName) {
  struct Case {
    SamplingSettings settings;
    const char* name;
  };
  const std::vector<Case> cases = {
      {{.temperature = -0.1}, "temperature is -0.1"},
      {{.temperature = 100.5}, "temperature is 100.5"},
      {{.temperature = NAN}, "temperature is nan"},
      {{.temperature = INFINITY}, "temperature is inf"},
      {{.top_k = -1}, "top_k is -1"},
      {{.top_k = int64_t{1} << 31}, "top_k is 2147483648"},
      {{.top_p = 0.0}, "top_p is 0"},
      {{.top_p = 1.01}, "top_p is 1.01"},
      {{.top_p = NAN}, "top_p is nan"},
      {{.min_p = -1.0}, "min_p is -1"},
      {{.min_p = 1.5}, "min_p is 1.5"},
  };
  for (const Case& c : cases) {
    const Status status = check_settings(c.settings);
    ASSERT_FALSE(status.ok()) << c.name;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(status.error().message.starts_with(c.name)) << status.error().message;
  }
}

TEST(SamplingSettings, RandomSeedsDifferAndFitIntoADouble) {
  const uint64_t a = random_seed();
  const uint64_t b = random_seed();
  EXPECT_NE(a, b);
  EXPECT_LT(a, uint64_t{1} << 53);
}

}  // namespace
}  // namespace lockstep
