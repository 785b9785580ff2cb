// Values that are not finite are reported by row, layer and stage; the rows beside them go on
// (verify/exact holds those to their bits).
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "model/testing/runner.h"

namespace lockstep {
namespace {

using testing::Runner;

class Faults : public ::testing::TestWithParam<const char*> {
 protected:
  // Runs five rows; `row` gets `value` in its residual stream after `layer`.
  std::vector<RowFault> plant(int64_t layer, int64_t row, float value) {
    const int64_t width = model_.config().hidden_size;
    runner_.pass().set_residual_edit([=](int64_t at, std::span<float> residual) {
      if (at == layer) residual[static_cast<size_t>(row * width + width / 2)] = value;
    });
    SequenceState sequence = runner_.new_sequence();
    RowBatch batch;
    batch.segments = {{.sequence = &sequence, .rows = 5}};
    batch.ids = {3, 14, 15, 92, 65};
    batch.logit_rows = {1, 4};
    return runner_.pass().forward(batch).value().faults;
  }

  Model model_ = testing::load_embedded(GetParam(), Precision::kInt8);
  Runner runner_{model_};
};

TEST_P(Faults, ThePlantedStageIsNamed) {
  const auto layers = static_cast<int64_t>(model_.config().layers.size());
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (int64_t layer = -1; layer < layers; ++layer) {
      const std::vector<RowFault> faults = plant(layer, 4, value);
      ASSERT_EQ(faults.size(), 1u) << "layer " << layer;
      EXPECT_EQ(faults[0].row, 4);
      EXPECT_EQ(faults[0].layer, layer);
      EXPECT_EQ(faults[0].site, layer < 0 ? stages::kEmbed : stages::kLayer);
    }
  }
}

TEST_P(Faults, LaterRowsOfTheSequenceReadItsState) {
  const std::vector<RowFault> faults = plant(-1, 2, std::numeric_limits<float>::quiet_NaN());
  ASSERT_EQ(faults.size(), 3u);
  for (size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(faults[i].row, static_cast<int64_t>(2 + i));
    EXPECT_EQ(faults[i].layer, i == 0 ? -1 : 0);
    EXPECT_EQ(faults[i].site, i == 0 ? stages::kEmbed : stages::kConv);
  }
}

TEST_P(Faults, SoundRoundsHaveNone) { EXPECT_TRUE(plant(0, 0, 0.5f).empty()); }

INSTANTIATE_TEST_SUITE_P(Embedded, Faults, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep
