// Holds every encoding, layout and head ratio to float64 figures of their own weights, and to
// itself between prompt and reply.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checkpoint/testing/temporary_folder.h"
#include "model/testing/figures.h"
#include "model/testing/runner.h"
#include "model/testing/variants.h"

namespace lockstep {
namespace {

using testing::Figures;
using testing::Runner;
using testing::Variant;

class Variants : public ::testing::TestWithParam<Variant> {
 protected:
  Variants() {
    const auto report =
        write_synthetic_checkpoint(GetParam().shape, folder_.path(), GetParam().options);
    LOCKSTEP_CHECK(report.ok(), report.error().message);
  }

  Model open(Precision precision) {
    Result<Checkpoint> checkpoint = open_checkpoint(folder_.path(), {});
    LOCKSTEP_CHECK(checkpoint.ok(), checkpoint.error().message);
    Result<Model> model = Model::make(std::move(checkpoint).value(), {.precision = precision});
    LOCKSTEP_CHECK(model.ok(), model.error().message);
    return std::move(model).value();
  }

  // Largest distance of the eight largest logits of every row from the figures.
  double logit_distance(const Figures& figures, std::span<const float> logits, const char* kind,
                        size_t count) const {
    const auto ids = figures.read<int32_t>(fmt::format("p0.{}ids", kind));
    const auto want = figures.read<float>(fmt::format("p0.{}logits", kind));
    double worst = 0.0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto index = i / count * static_cast<size_t>(GetParam().shape.vocab);
      const double got = logits[index + static_cast<size_t>(ids[i])];
      worst = std::max(worst, std::abs(got - want[i]));
    }
    return worst;
  }

  TemporaryFolder folder_;
};

// Float32 sums of at most 320 terms in a handful of layers; logits are of order 1 to 10.
constexpr double kFullTolerance = 1e-4;

TEST_P(Variants, FullPrecisionAgreesWithFloat64) {
  const Figures figures("variants/" + GetParam().name, folder_.path());
  const Model model = open(Precision::kFull);
  Runner runner(model);
  const std::vector<int32_t> ids = figures.read<int32_t>("p0.ids");
  const Runner::Stages stages = runner.read_stages(ids);
  EXPECT_LT(logit_distance(figures, stages.logits, "top_", 8), kFullTolerance);

  std::vector<int64_t> rows(ids.size() - 1);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  const auto hidden = static_cast<size_t>(model.config().hidden_size);
  SequenceState state(model.draft_state_shape());
  const BatchSegment segment = {.sequence = &state, .rows = std::ssize(rows)};
  const Result<DraftOutput> draft = runner.pass().draft(
      {.segments = {&segment, 1},
       .hidden = std::span<const float>(stages.hidden).first(rows.size() * hidden),
       .ids = std::span<const int32_t>(ids).subspan(1),
       .logit_rows = rows});
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_LT(logit_distance(figures, draft.value().logits, "mtp_post_", 4), kFullTolerance);
}

TEST_P(Variants, PromptRowsEqualReplyRows) {
  for (Precision precision : {Precision::kInt8, Precision::kFull}) {
    const Model model = open(precision);
    Runner runner(model);
    std::vector<int32_t> ids(70);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i * 37 % 320);
    SequenceState whole = runner.new_sequence();
    const std::vector<float> want = runner.read(whole, ids, 256);
    for (int64_t chunk : {1, 3, 65}) {
      SequenceState sequence = runner.new_sequence();
      const std::vector<float> got = runner.read(sequence, ids, chunk);
      ASSERT_EQ(got.size(), want.size());
      EXPECT_EQ(0, std::memcmp(got.data(), want.data(), got.size() * sizeof(float)))
          << to_string(precision) << ", chunks of " << chunk;
      EXPECT_EQ(testing::fingerprint(sequence), testing::fingerprint(whole));
    }
  }
}

// Routers, shared-expert gates and the recurrence's a and b take float32 activations in every
// precision (docs/numerics.md, rule 3): where nothing else is quantised, both precisions are one
// until keys and values are rounded.
TEST(Precisions, SensitiveProjectionsAreNeverQuantised) {
  SynthOptions options;
  options.overrides = {{.part = "", .bits = 0}};
  for (const char* part : {".mlp.gate", "shared_expert_gate", "in_proj_a", "in_proj_b"}) {
    options.overrides.push_back({.part = part, .bits = 4, .group = 32});
  }
  const TemporaryFolder folder;
  ASSERT_TRUE(
      write_synthetic_checkpoint(find_synth_shape("micro-moe16").value(), folder.path(), options)
          .ok());
  std::vector<std::vector<float>> last_delta_layer;
  for (Precision precision : {Precision::kInt8, Precision::kFull}) {
    Result<Checkpoint> checkpoint = open_checkpoint(folder.path(), {});
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    const Result<Model> model =
        Model::make(std::move(checkpoint).value(), {.precision = precision});
    ASSERT_TRUE(model.ok()) << model.error().message;
    ASSERT_EQ(model.value().weights().layers[2].mixer.index(), 0u);
    Runner runner(model.value());
    last_delta_layer.push_back(runner.read_stages(std::vector<int32_t>{3, 14, 15, 92, 65}).rows[3]);
  }
  EXPECT_EQ(last_delta_layer[0], last_delta_layer[1]);
}

INSTANTIATE_TEST_SUITE_P(All, Variants, ::testing::ValuesIn(testing::variants()),
                         [](const auto& param_info) {
                           std::string name = param_info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep
