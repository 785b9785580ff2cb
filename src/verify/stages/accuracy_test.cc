// The accuracy table of docs/numerics.md, row by row, on both embedded models: fed the engine's own
// input and chained from the ids.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/testing/figures.h"
#include "model/testing/runner.h"
#include "verify/stages/compare.h"
#include "verify/stages/goals.h"
#include "verify/stages/record.h"

namespace lockstep::verify {
namespace {

struct Setting {
  const char* model;
  Precision precision;
};

std::vector<int32_t> all_positions(size_t count) {
  std::vector<int32_t> positions(count);
  for (size_t i = 0; i < count; ++i) positions[i] = static_cast<int32_t>(i);
  return positions;
}

EngineRecord record(const Model& model, std::span<const int32_t> ids) {
  ThreadPool pool(2);
  const CpuContext context = {.pool = pool, .isa = best_isa()};
  auto recorded = record_engine(model, context, ids, all_positions(ids.size()), {});
  LOCKSTEP_CHECK(recorded.ok(), "a sequence that cannot be recorded");
  return std::move(recorded).value();
}

class AccuracyTable : public ::testing::TestWithParam<Setting> {
 protected:
  static void hold_every_stage(const Comparison& comparison);

  // Every prompt on its own.
  void hold(Feed feed) {
    const Model model = testing::load_embedded(GetParam().model, GetParam().precision);
    const testing::Figures figures(GetParam().model, testing::embedded_folder(GetParam().model));
    for (int prompt = 0; prompt < figures.prompts(); ++prompt) {
      const auto ids = figures.read<int32_t>(fmt::format("p{}.ids", prompt));
      if (prompt != 1 && prompt != 3) continue;  // float64 is slow; these are 32 rows
      const EngineRecord engine = record(model, ids);
      const StageDump reference = record_float64(model, engine, feed, {});
      const auto comparison = compare_dumps(engine.dump, reference);
      ASSERT_TRUE(comparison.ok()) << comparison.error().message;
      ASSERT_EQ(comparison.value().layers().size(), model.config().layers.size());
      Report report("stages",
                    [&](const Clause& clause) { fmt::print("p{} {}\n", prompt, to_text(clause)); });
      judge(comparison.value(), engine.dump.identity, reference.identity, report);
      EXPECT_GE(report.clauses().size(), 2u) << "no goal was found for this precision";
      EXPECT_TRUE(report.green()) << "prompt " << prompt;
      if (GetParam().precision == Precision::kFull) hold_every_stage(comparison.value());
    }
  }
};

TEST_P(AccuracyTable, FedTheEnginesOwnInput) { hold(Feed::kOwn); }
TEST_P(AccuracyTable, ChainedFromTheIds) { hold(Feed::kChained); }

// The table says nothing of what stands between two layers; in float32 it is as near to float64 as
// they are, and every tap shows what its name says.
void AccuracyTable::hold_every_stage(const Comparison& comparison) {
  EXPECT_TRUE(comparison.only_a.empty() && comparison.only_b.empty());
  for (const StageError& stage : comparison.stages) {
    const bool ids = stage.name.ends_with("expert_ids");
    EXPECT_LE(stage.median, ids ? 0.0 : 1e-5) << stage.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Embedded, AccuracyTable,
                         ::testing::Values(Setting{"tiny-dense-mlx-4bit", Precision::kFull},
                                           Setting{"tiny-dense-mlx-4bit", Precision::kInt8},
                                           Setting{"tiny-moe-mlx-4bit", Precision::kFull},
                                           Setting{"tiny-moe-mlx-4bit", Precision::kInt8}),
                         [](const auto& param_info) {
                           const bool moe =
                               std::string(param_info.param.model).find("moe") != std::string::npos;
                           return fmt::format(
                               "{}{}", moe ? "Moe" : "Dense",
                               param_info.param.precision == Precision::kFull ? "Full" : "Int8");
                         });

}  // namespace
}  // namespace lockstep::verify
