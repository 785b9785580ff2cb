// The float64 pass against figures of independent programs (tests/figures/): what python/ computed
// in float64, kept as float32, and transformers' float32 agree with it to about 3e-7 in a stage and
// 2e-5 in a logit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/testing/figures.h"
#include "model/testing/runner.h"
#include "verify/float64/float64_model.h"

namespace lockstep::verify {
namespace {

using testing::Figures;

struct Pass {
  std::vector<std::vector<double>> stages;  // embedding, after each layer, after the final norm
  std::vector<double> logits;               // [T, V]
};

Pass run_chained(const Model& model, const std::vector<int32_t>& ids) {
  const Float64Model reference(model);
  Pass pass;
  pass.stages.push_back(reference.embed(ids));
  for (size_t i = 0; i < model.config().layers.size(); ++i) {
    pass.stages.push_back(reference.run_layer(static_cast<int64_t>(i), pass.stages.back()));
  }
  pass.stages.push_back(reference.final_norm(pass.stages.back()));
  pass.logits = reference.logits(pass.stages.back());
  return pass;
}

double row_error(const double* got, const float* want, size_t width) {
  double difference = 0.0, norm = 0.0;
  for (size_t i = 0; i < width; ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(difference / norm);
}

class Float64 : public ::testing::TestWithParam<const char*> {
 protected:
  std::string p(int prompt, const std::string& tensor) const {
    return fmt::format("p{}.{}", prompt, tensor);
  }
  // The worst difference of `logits` [rows, V] from the figures' `count` largest of each row.
  double top_difference(const std::vector<double>& logits, int prompt, const std::string& kind,
                        size_t count) const {
    const auto vocab = static_cast<size_t>(model_.config().vocab_size);
    const auto ids = figures_.read<int32_t>(p(prompt, kind + "_ids"));
    const auto values = figures_.read<float>(p(prompt, kind + "_logits"));
    double worst = 0.0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const double got = logits[i / count * vocab + static_cast<size_t>(ids[i])];
      worst = std::max(worst, std::abs(got - values[i]));
    }
    return worst;
  }

  Figures figures_{GetParam(), testing::embedded_folder(GetParam())};
  Model model_ = testing::load_embedded(GetParam(), Precision::kFull);
};

TEST_P(Float64, StagesAndLogitsAgreeWithIndependentFigures) {
  const auto hidden = static_cast<size_t>(model_.config().hidden_size);
  double worst_stage = 0.0, worst_logit = 0.0;
  for (const int prompt : {0, 1, 3}) {
    const Pass pass = run_chained(model_, figures_.read<int32_t>(p(prompt, "ids")));
    const auto rows = figures_.read<int32_t>(p(prompt, "rows"));
    ASSERT_FALSE(rows.empty());
    for (size_t stage = 0; stage < pass.stages.size(); ++stage) {
      const auto want = figures_.read<float>(p(prompt, fmt::format("stage{}", stage)));
      for (size_t i = 0; i < rows.size(); ++i) {
        const double* got = pass.stages[stage].data() + static_cast<size_t>(rows[i]) * hidden;
        worst_stage = std::max(worst_stage, row_error(got, want.data() + i * hidden, hidden));
      }
    }
    worst_logit = std::max(worst_logit, top_difference(pass.logits, prompt, "top", 8));
  }
  EXPECT_LT(worst_stage, 2e-6);
  EXPECT_LT(worst_logit, 4e-5);
  fmt::print("clause float64 against figures: worst stage row {:.2e}, worst logit {:.2e}\n",
             worst_stage, worst_logit);
}

TEST_P(Float64, DraftHeadAgreesForBothHiddenConventions) {
  double worst = 0.0;
  for (const int prompt : {0, 3}) {
    const auto ids = figures_.read<int32_t>(p(prompt, "ids"));
    const Pass pass = run_chained(model_, ids);
    const size_t rows = (ids.size() - 1) * static_cast<size_t>(model_.config().hidden_size);
    const Float64Model reference(model_);
    for (const bool post : {true, false}) {
      const std::vector<double>& hidden = pass.stages[pass.stages.size() - (post ? 1 : 2)];
      const std::vector<double> logits =
          reference.draft(std::span(hidden).first(rows), std::span<const int32_t>(ids).subspan(1));
      worst = std::max(worst, top_difference(logits, prompt, post ? "mtp_post" : "mtp_pre", 4));
    }
  }
  EXPECT_LT(worst, 4e-5);
  fmt::print("clause float64 draft head against figures: worst logit {:.2e}\n", worst);
}

TEST_P(Float64, TapSeesTheStagesOfTheEngine) {
  const std::vector<int32_t> ids = {5, 6, 7};
  std::vector<std::string> seen, wanted;
  const auto name = [](std::string_view stage, int64_t layer, int64_t width) {
    return fmt::format("{} {} {}", stage, layer, width);
  };
  testing::Runner runner(model_, 1);
  runner.pass().set_tap([&](std::string_view stage, int64_t layer, std::span<const float>,
                            int64_t width) { wanted.push_back(name(stage, layer, width)); });
  SequenceState sequence = runner.new_sequence();
  runner.read(sequence, ids, 3);
  Float64Model reference(model_);
  reference.set_tap([&](std::string_view stage, int64_t layer, std::span<const double>,
                        int64_t width) { seen.push_back(name(stage, layer, width)); });
  std::vector<double> residual = reference.embed(ids);
  for (size_t i = 0; i < model_.config().layers.size(); ++i) {
    residual = reference.run_layer(static_cast<int64_t>(i), residual);
  }
  reference.logits(reference.final_norm(residual));
  EXPECT_EQ(seen, wanted);
  EXPECT_GT(seen.size(), 10 * model_.config().layers.size());
}

INSTANTIATE_TEST_SUITE_P(Embedded, Float64, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep::verify
