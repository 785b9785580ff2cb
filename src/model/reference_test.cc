// Holds both embedded models to independent float32 figures (tests/figures/), in both precisions.
// The goals are those of docs/numerics.md as far as chained figures can show them; the figures' own
// error is about 3e-7 in a stage and 1e-5 in a logit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/testing/figures.h"
#include "model/testing/runner.h"

namespace lockstep {
namespace {

using testing::Figures;
using testing::Runner;

struct StageErrors {
  std::vector<double> median;  // per stage, over tokens
  double worst_token = 0.0;
};

double relative_error(std::span<const float> got, std::span<const float> want) {
  double difference = 0.0;
  double norm = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(difference / norm);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Reference : public ::testing::TestWithParam<const char*> {
 protected:
  std::string p(int prompt, const char* tensor) const {
    return fmt::format("p{}.{}", prompt, tensor);
  }

  // Relative 2-norm errors of the residual stream of each layer and the final norm, chained from
  // the ids.
  StageErrors stage_errors(Runner& runner) {
    const size_t hidden = static_cast<size_t>(runner.model().config().hidden_size);
    const int64_t stage_count = static_cast<int64_t>(runner.model().config().layers.size()) + 2;
    std::vector<std::vector<double>> errors(static_cast<size_t>(stage_count));
    for (int prompt = 0; prompt < figures_.prompts(); ++prompt) {
      const Runner::Stages stages = runner.read_stages(figures_.read<int32_t>(p(prompt, "ids")));
      const std::vector<int32_t> rows = figures_.read<int32_t>(p(prompt, "rows"));
      for (int64_t stage = 0; stage < stage_count; ++stage) {
        const std::vector<float> want =
            figures_.read<float>(p(prompt, fmt::format("stage{}", stage).c_str()));
        const std::span<const float> got = stages.rows.at(stage);
        for (size_t i = 0; i < rows.size(); ++i) {
          errors[static_cast<size_t>(stage)].push_back(
              relative_error(got.subspan(static_cast<size_t>(rows[i]) * hidden, hidden),
                             std::span<const float>(want).subspan(i * hidden, hidden)));
        }
      }
    }
    StageErrors result;
    for (const std::vector<double>& stage : errors) {
      result.median.push_back(median(stage));
      result.worst_token =
          std::max(result.worst_token, *std::max_element(stage.begin(), stage.end()));
    }
    return result;
  }

  Figures figures_{GetParam(), testing::embedded_folder(GetParam())};
};

TEST_P(Reference, FullPrecisionStagesAreFloat32Exact) {
  const Model model = testing::load_embedded(GetParam(), Precision::kFull);
  Runner runner(model);
  const StageErrors errors = stage_errors(runner);
  for (size_t stage = 0; stage < errors.median.size(); ++stage) {
    EXPECT_LT(errors.median[stage], 2e-6) << "stage " << stage;
  }
  EXPECT_LT(errors.median.back(), 5e-6);
  EXPECT_LT(errors.worst_token, 2e-5);
  fmt::print("clause full stages: median of the last {:.2e}, worst token {:.2e}\n",
             errors.median.back(), errors.worst_token);
}

TEST_P(Reference, FullPrecisionLogitsAndChoicesAgree) {
  const Model model = testing::load_embedded(GetParam(), Precision::kFull);
  Runner runner(model);
  const auto vocab = static_cast<size_t>(model.config().vocab_size);
  double worst = 0.0;
  for (int prompt = 0; prompt < figures_.prompts(); ++prompt) {
    const std::vector<int32_t> ids = figures_.read<int32_t>(p(prompt, "ids"));
    const Runner::Stages stages = runner.read_stages(ids);
    const std::vector<float> last = figures_.read<float>(p(prompt, "last_logits"));
    for (size_t i = 0; i < vocab; ++i) {
      const double got = stages.logits[(ids.size() - 1) * vocab + i];
      worst = std::max(worst, std::abs(got - last[i]));
    }
    const std::vector<int32_t> top_ids = figures_.read<int32_t>(p(prompt, "top_ids"));
    const std::vector<float> top_logits = figures_.read<float>(p(prompt, "top_logits"));
    for (size_t i = 0; i < top_ids.size(); ++i) {
      const double got = stages.logits[i / 8 * vocab + static_cast<size_t>(top_ids[i])];
      worst = std::max(worst, std::abs(got - top_logits[i]));
    }
    EXPECT_EQ(runner.greedy(ids, 48), figures_.read<int32_t>(p(prompt, "greedy"))) << "p" << prompt;
  }
  EXPECT_LT(worst, 1e-4);
  fmt::print("clause full logits: worst difference {:.2e}\n", worst);
}

TEST_P(Reference, DraftHeadAgreesForBothHiddenConventions) {
  const Model model = testing::load_embedded(GetParam(), Precision::kFull);
  Runner runner(model);
  const auto vocab = static_cast<size_t>(model.config().vocab_size);
  const auto hidden = static_cast<size_t>(model.config().hidden_size);
  double worst = 0.0;
  int right[2] = {0, 0};
  for (int prompt = 0; prompt < figures_.prompts(); ++prompt) {
    const std::vector<int32_t> ids = figures_.read<int32_t>(p(prompt, "ids"));
    const Runner::Stages stages = runner.read_stages(ids);
    std::vector<int64_t> rows(ids.size() - 1);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
    for (const bool post : {true, false}) {
      const std::string kind = post ? "mtp_post_" : "mtp_pre_";
      SequenceState state(model.draft_state_shape());
      const std::vector<float>& source = post ? stages.hidden : stages.hidden_pre;
      const BatchSegment segment = {.sequence = &state, .rows = std::ssize(rows)};
      Result<DraftOutput> output =
          runner.pass().draft({.segments = {&segment, 1},
                               .hidden = std::span<const float>(source).first(rows.size() * hidden),
                               .ids = std::span<const int32_t>(ids).subspan(1),
                               .logit_rows = rows});
      ASSERT_TRUE(output.ok()) << output.error().message;
      const std::vector<int32_t> top_ids =
          figures_.read<int32_t>(p(prompt, (kind + "ids").c_str()));
      const std::vector<float> top = figures_.read<float>(p(prompt, (kind + "logits").c_str()));
      for (size_t i = 0; i < top_ids.size(); ++i) {
        const double got = output.value().logits[i / 4 * vocab + static_cast<size_t>(top_ids[i])];
        worst = std::max(worst, std::abs(got - top[i]));
      }
      for (size_t row = 0; row + 2 < ids.size(); ++row) {
        right[post ? 0 : 1] += top_ids[row * 4] == ids[row + 2];
      }
    }
  }
  EXPECT_LT(worst, 1e-4);
  fmt::print(
      "clause draft rows: worst difference {:.2e}; right drafts after / before the norm {} / {}\n",
      worst, right[0], right[1]);
}

TEST_P(Reference, Int8StaysWithinItsGoals) {
  const Model model = testing::load_embedded(GetParam(), Precision::kInt8);
  Runner runner(model);
  const StageErrors errors = stage_errors(runner);
  const std::vector<double> layers(errors.median.begin() + 1, errors.median.end() - 1);
  EXPECT_LT(errors.median.back(), 0.014);
  for (double stage : layers) EXPECT_LT(stage, 0.014);
  fmt::print("clause int8 stages, chained: median {:.2e}, first layer {:.2e}, last {:.2e}\n",
             median(layers), layers.front(), errors.median.back());
}

INSTANTIATE_TEST_SUITE_P(Embedded, Reference, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep
