// What is said where bits differ.
#include <gtest/gtest.h>

#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "verify/exact/player.h"
#include "verify/exact/state_parts.h"

namespace lockstep::verify {
namespace {

TEST(StageDifference, NamesTheFirstStageColumnAndBothValues) {
  const std::vector<StageValues> want = {{"embed", -1, {1.0f, 2.0f}}, {"layer", 0, {0.5f, 0.25f}}};
  std::vector<StageValues> got = want;
  EXPECT_EQ(first_difference(got, want), "");
  got[1].values[1] = 0.5f;
  EXPECT_EQ(first_difference(got, want),
            "layer 0, layer, column 1: 0.5 (0x3f000000), want 0.25 (0x3e800000)");
  got[0].values[0] = -0.0f;
  EXPECT_TRUE(
      first_difference(got, want).starts_with("layer -1, embed, column 0: -0 (0x80000000)"));
  got.pop_back();
  EXPECT_EQ(first_difference(got, want), "1 stages, want 2");
}

class Differences : public ::testing::Test {
 protected:
  static Model open() {
    const auto folder =
        std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models" / "tiny-dense-mlx-4bit";
    return Model::make(open_checkpoint(folder, {}).value(), {}).value();
  }

  Stream read(std::vector<int32_t> ids) {
    Stream stream{.ids = std::move(ids)};
    const Status status = player_.read_alone(stream);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return stream;
  }

  Model model_ = open();
  Player player_{model_, 1, best_isa(), 16};
};

TEST_F(Differences, ARowWithOtherLogitsIsFound) {
  Stream stream = read({3, 14, 15, 92, 65});
  const int64_t length = 5;
  EXPECT_FALSE(player_.play(chunked({&length, 1}, 2), {&stream, 1}).value().difference);
  std::swap(stream.logits[2], stream.logits[3]);
  const Played played = player_.play(chunked({&length, 1}, 2), {&stream, 1}).value();
  ASSERT_TRUE(played.difference);
  EXPECT_EQ(played.difference->position, 2);
  EXPECT_EQ(played.rows, 3);
}

TEST_F(Differences, AnotherStateAtTheEndIsFoundAndNamed) {
  const int64_t length = 5;
  const Schedule whole = chunked({&length, 1}, length);
  Stream stream = read({3, 14, 15, 92, 65});
  const Stream other = read({3, 14, 15, 92, 66});
  stream.state = other.state;
  const Played played = player_.play(whole, {&stream, 1}).value();
  ASSERT_TRUE(played.difference);
  EXPECT_FALSE(played.difference->position);

  Player second(model_, 1, best_isa(), 16);
  ASSERT_TRUE(second.play(whole, {&other, 1}).ok());
  EXPECT_TRUE(first_difference(player_.sequence(0), second.sequence(0), model_.config().layers)
                  .starts_with("layer 0, convolution state, element "));
}

TEST_F(Differences, AWatchedRowShowsEveryStage) {
  const Stream stream = read({3, 14, 15, 92, 65});
  const int64_t length = 5;
  const Played played =
      player_.play(chunked({&length, 1}, 2), {&stream, 1}, Watch{.position = 3}).value();
  ASSERT_FALSE(played.watched.empty());
  EXPECT_EQ(played.watched.front().stage, "embed");
  EXPECT_EQ(played.watched.back().stage, "logits");
  EXPECT_EQ(hash_bits(std::span<const float>(played.watched.back().values)), stream.logits[3]);
}

TEST_F(Differences, RowsThatAreNotFiniteHaveToBeReported) {
  const Stream stream = read({3, 14, 15, 92, 65});
  const int64_t length = 5;
  Schedule schedule = chunked({&length, 1}, 2);
  schedule.poisoned = 0;
  EXPECT_FALSE(player_.play(schedule, {&stream, 1}).value().difference);
}

}  // namespace
}  // namespace lockstep::verify
