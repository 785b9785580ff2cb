#include "server/thinking_budget.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer loaded = load_tokenizer(std::string(LOCKSTEP_SOURCE_DIR) +
                                                 "/models/tiny-dense-mlx-4bit/tokenizer.json")
                                      .value();
  return loaded;
}

std::shared_ptr<const TokenConstraint> budget(int64_t tokens) {
  return make_thinking_budget(tokenizer(), tokenizer().vocab_size(), tokens).value();
}

// The only id that may be drawn; -1 if there are several.
int32_t forced(const TokenConstraint& state) {
  int32_t found = -1;
  for (int32_t id = 0; id < tokenizer().vocab_size(); ++id) {
    const bool allowed = (state.mask()[static_cast<size_t>(id) / 64] >> (id % 64) & 1) != 0;
    if (allowed && found >= 0) return -1;
    if (allowed) found = id;
  }
  return found;
}

// What is written from `state` on where nothing else can be.
std::string forced_text(std::shared_ptr<const TokenConstraint> state) {
  std::vector<int32_t> ids;
  while (state != nullptr && forced(*state) >= 0) {
    ids.push_back(forced(*state));
    state = state->after(ids.back());
  }
  EXPECT_EQ(state, nullptr);
  return tokenizer().decode(ids);
}

TEST(ThinkingBudget, WritesTheEndOfThinkingWhenItIsSpent) {
  auto state = budget(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(forced(*state), -1);
    state = state->after(100);
  }
  EXPECT_EQ(forced_text(state), "\n</think>\n\n");
}

TEST(ThinkingBudget, OfNothingEndsAtOnce) { EXPECT_EQ(forced_text(budget(0)), "\n</think>\n\n"); }

TEST(ThinkingBudget, BindsNothingOnceThinkingHasEnded) {
  EXPECT_EQ(budget(3)->after(100)->after(*tokenizer().find_token("</think>")), nullptr);
}

TEST(ThinkingBudget, StatesDoNotChange) {
  const auto state = budget(1);
  const auto spent = state->after(100);
  EXPECT_EQ(forced(*state), -1);
  EXPECT_EQ(forced_text(spent), forced_text(spent));
}

}  // namespace
}  // namespace lockstep
