#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verify/stages/compare.h"
#include "verify/stages/goals.h"
#include "verify/stages/table.h"

namespace lockstep::verify {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

StageDump dump_of(std::string source) {
  StageDump dump;
  dump.identity = {.producer = "test",
                   .source = std::move(source),
                   .precision = "backend=cpu precision=full",
                   .weights = "0",
                   .vocab = 4};
  dump.ids = {0, 1, 2};
  dump.positions = {0, 1, 2};
  dump.at("embed", 2).data = {3, 4, 3, 4, 3, 4};
  dump.at("layers.0.layer", 2).data = {3, 4, 3, 4, 3, 4};
  dump.at("layers.0.expert_ids", 2).data = {5, 6, 5, 6, 5, 6};
  dump.at("logits", 4).data = {9, 1, 2, -kInfinity, 9, 1, 2, -kInfinity, 9, 8, 2, -kInfinity};
  return dump;
}

Comparison compare(const StageDump& a, const StageDump& b) {
  auto comparison = compare_dumps(a, b);
  EXPECT_TRUE(comparison.ok()) << (comparison.ok() ? "" : comparison.error().message);
  return std::move(comparison).value();
}

bool is_green(const StageDump& a, const StageDump& b) {
  Report report("stages");
  judge(compare(a, b), a.identity, b.identity, report);
  return report.green();
}

TEST(CompareStages, EqualDumpsHaveNoError) {
  const Comparison comparison = compare(dump_of("engine"), dump_of("float64-own"));
  ASSERT_EQ(comparison.stages.size(), 4u);
  for (const StageError& stage : comparison.stages) {
    EXPECT_EQ(stage.worst, 0.0) << stage.name;
    EXPECT_EQ(stage.rows, 3) << stage.name;
  }
  EXPECT_EQ(comparison.find_logits("logits")->agreeing(), 3);
  EXPECT_TRUE(is_green(dump_of("engine"), dump_of("float64-own")));
}

TEST(CompareStages, FindsTheRowAndTheColumn) {
  StageDump a = dump_of("engine");
  a.at("layers.0.layer", 2).data[3] += 0.5f;  // position 1, column 1; |b| = 5
  const Comparison comparison = compare(a, dump_of("other"));
  const StageError& stage = *comparison.find("layers.0.layer");
  EXPECT_DOUBLE_EQ(stage.worst, 0.1);
  EXPECT_EQ(stage.worst_position, 1);
  EXPECT_EQ(stage.median, 0.0);
  EXPECT_EQ(stage.worst_column, 1);
  EXPECT_DOUBLE_EQ(stage.worst_column_error, 0.5 / std::sqrt(3.0 * 16.0));
}

TEST(CompareStages, ExpertsAreASetAndLogitsHaveMaskedIds) {
  StageDump a = dump_of("engine");
  a.at("layers.0.expert_ids", 2).data = {6, 5, 5, 7, 5, 6};
  a.at("logits", 4).data[3] = 100;  // the reference masks it
  const Comparison comparison = compare(a, dump_of("other"));
  EXPECT_EQ(comparison.find("layers.0.expert_ids")->worst, 0.5);
  EXPECT_EQ(comparison.find("layers.0.expert_ids")->worst_position, 1);
  EXPECT_EQ(comparison.find("logits")->worst, 0.0);
}

TEST(CompareStages, ANumberThatIsNoneIsRed) {
  for (const float bad : {std::nanf(""), kInfinity}) {
    StageDump a = dump_of("engine");
    a.at("embed", 2).data[0] = bad;
    EXPECT_FALSE(is_green(a, dump_of("float64-own")));
  }
}

TEST(CompareStages, CommonPositionsAreCompared) {
  StageDump a = dump_of("engine");
  a.positions = {1};
  a.stages.clear();
  a.at("embed", 2).data = {3, 4};
  const Comparison comparison = compare(a, dump_of("other"));
  EXPECT_EQ(comparison.find("embed")->rows, 1);
  EXPECT_EQ(comparison.only_b.size(), 3u);
}

TEST(CompareStages, RefusesWhatIsNoPair) {
  StageDump other = dump_of("other");
  other.ids[2] = 3;
  EXPECT_FALSE(compare_dumps(dump_of("engine"), other).ok());
  other = dump_of("other");
  other.identity.weights = "1";
  EXPECT_FALSE(compare_dumps(dump_of("engine"), other).ok());
  other = dump_of("other");
  other.stages.clear();
  other.at("else", 1).data = {1, 2, 3};
  EXPECT_FALSE(compare_dumps(dump_of("engine"), other).ok());
  other = dump_of("other");
  other.stages.clear();
  other.at("embed", 3).data.resize(9);
  EXPECT_FALSE(compare_dumps(dump_of("engine"), other).ok());
}

TEST(NearTie, NeedsTheSameTwoContendersAndMarginsUnderOneStep) {
  const auto choice = [](TopTwo a, TopTwo b) { return Choice{0, a, b}; };
  // bf16 has 8 significant bits: a step of 2^-4 from 8 to 16.
  EXPECT_EQ(bf16_step(9.0), 0.0625);
  EXPECT_EQ(bf16_step(-15.9), 0.0625);
  EXPECT_EQ(bf16_step(16.0), 0.125);
  EXPECT_TRUE(choice({1, 2, 9.0, 0.06}, {2, 1, 9.0, 0.06}).near_tie());
  EXPECT_FALSE(choice({1, 2, 9.0, 0.06}, {2, 3, 9.0, 0.06}).near_tie());
  EXPECT_FALSE(choice({1, 2, 9.0, 0.07}, {2, 1, 9.0, 0.06}).near_tie());
  EXPECT_FALSE(choice({1, 2, 9.0, 0.06}, {2, 1, 9.0, 0.07}).near_tie());
}

TEST(NearTie, DecidesAnotherChoice) {
  StageDump a = dump_of("engine");
  StageDump b = dump_of("other");
  a.at("logits", 4).data[8] = 7.99f;  // position 2: 8 wins over 7.99
  EXPECT_FALSE(is_green(a, b));
  b.at("logits", 4).data[8] = 8.01f;
  EXPECT_TRUE(is_green(a, b));
}

TEST(TopTwo, TiesGoToTheLowerId) {
  const TopTwo top = top_two(std::vector<float>{1, 5, 3, 5});
  EXPECT_EQ(top.first, 1);
  EXPECT_EQ(top.second, 3);
  EXPECT_EQ(top.margin, 0.0);
}

// A dump whose only layer is `error` away in every row, or in one.
StageDump away_by(float error, bool every_row) {
  StageDump dump = dump_of("engine");
  std::vector<float>& layer = dump.at("layers.0.layer", 2).data;
  for (size_t row = 0; row < (every_row ? 3u : 1u); ++row) layer[2 * row + 1] += 5 * error;
  return dump;
}

TEST(AccuracyGoals, AreThoseOfTheTable) {
  const AccuracyGoal& full = *find_goal("backend=cpu numerics=1 precision=full kv=f32");
  EXPECT_EQ(full.stage_median, 1e-6);
  EXPECT_EQ(full.worst_stage, 2e-6);
  EXPECT_EQ(full.worst_token.value(), 2e-5);
  EXPECT_EQ(full.chained_last, 5e-6);
  EXPECT_EQ(full.logits.value(), 1e-4);
  const AccuracyGoal& int8 = *find_goal("backend=cpu numerics=1 precision=int8 kv=bf16");
  EXPECT_EQ(int8.stage_median, 0.0045);
  EXPECT_EQ(int8.worst_stage, 0.0095);
  EXPECT_EQ(int8.chained_last, 0.014);
  EXPECT_EQ(find_goal("backend=cuda precision=full"), nullptr);
}

TEST(AccuracyGoals, EachTurnsRedWhenMissed) {
  const StageDump own = dump_of("float64-own"), chained = dump_of("float64-chained");
  EXPECT_TRUE(is_green(away_by(0.9e-6f, true), own));
  EXPECT_FALSE(is_green(away_by(1.2e-6f, true), own));
  EXPECT_TRUE(is_green(away_by(1.8e-5f, false), own));
  EXPECT_FALSE(is_green(away_by(2.2e-5f, false), own));
  EXPECT_TRUE(is_green(away_by(4.5e-6f, true), chained));
  EXPECT_FALSE(is_green(away_by(5.5e-6f, true), chained));
  StageDump logits = dump_of("engine");
  logits.at("logits", 4).data[0] += 2e-4f;
  EXPECT_FALSE(is_green(logits, chained));
  EXPECT_TRUE(is_green(logits, own));
}

TEST(ComparisonTable, HoldsEveryStageAndMargin) {
  const Comparison comparison = compare(dump_of("engine"), dump_of("other"));
  const std::string text = to_text(comparison);
  for (const char* words : {"embed", "layers.0.layer", "expert_ids", "agrees at 3 of 3"}) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  const json::object object = to_json(comparison);
  EXPECT_EQ(object.at("stages").as_array().size(), 4u);
  EXPECT_EQ(object.at("logits").as_array().size(), 1u);
}

}  // namespace
}  // namespace lockstep::verify
