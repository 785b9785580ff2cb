#include "sampling/settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sampling/sampler.h"

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
      {{.repetition_penalty = 0.0}, "repetition_penalty is 0"},
      {{.repetition_penalty = 100.5}, "repetition_penalty is 100.5"},
      {{.repetition_penalty = NAN}, "repetition_penalty is nan"},
      {{.presence_penalty = -101}, "presence_penalty is -101"},
      {{.presence_penalty = INFINITY}, "presence_penalty is inf"},
      {{.frequency_penalty = 101}, "frequency_penalty is 101"},
      {{.frequency_penalty = NAN}, "frequency_penalty is nan"},
      {{.penalty_window = -1}, "penalty_window is -1"},
      {{.penalty_window = int64_t{1} << 31}, "penalty_window is 2147483648"},
      {{.logit_bias = {{1, 0.0}, {7, 100.5}}}, "logit_bias of token 7 is 100.5"},
      {{.logit_bias = {{7, NAN}}}, "logit_bias of token 7 is nan"},
      {{.logit_bias = {{3, 1.0}, {1, 1.0}, {3, 2.0}}}, "logit_bias names token 3 more than once"},
  };
  for (const Case& c : cases) {
    const Status status = check_settings(c.settings);
    ASSERT_FALSE(status.ok()) << c.name;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(status.error().message.starts_with(c.name)) << status.error().message;
  }
}

TEST(SamplingSettings, IdsOutsideTheVocabularyAreRefusedByName) {
  EXPECT_TRUE(check_token_ids({.logit_bias = {{9, 1.0}}, .banned_tokens = {0, 9}}, 10).ok());
  const std::vector<std::pair<SamplingSettings, const char*>> cases = {
      {{.logit_bias = {{10, 1.0}}}, "logit_bias names token 10"},
      {{.banned_tokens = {3, -1}}, "banned_tokens names token -1"},
      {{.allowed_tokens = {3, 2147483647}}, "allowed_tokens names token 2147483647"},
  };
  for (const auto& [settings, message] : cases) {
    const Status status = check_token_ids(settings, 10);
    ASSERT_FALSE(status.ok()) << message;
    EXPECT_TRUE(status.error().message.starts_with(message)) << status.error().message;
    EXPECT_FALSE(Sampler::make(settings, 10, {}).ok());
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
