#include "bench/traffic.h"

#include <gtest/gtest.h>

#include "checkpoint/testing/synthetic.h"
#include "runtime/tiny_model_test.h"

namespace lockstep::bench {
namespace {

uint64_t used_bytes(const Model& model) {
  const Checkpoint& checkpoint = model.checkpoint();
  uint64_t bytes = 0;
  for (size_t i = 0; i < checkpoint.used.size(); ++i) {
    const TensorRecord& tensor = checkpoint.tensors.tensors()[i];
    if (checkpoint.used[i]) bytes += tensor.bytes;
  }
  return bytes;
}

OpenOptions without_draft_head() {
  OpenOptions options;
  options.use_mtp = false;
  return options;
}

// The embedding is tied to the head here: read whole for the logits, one row of it besides.
TEST(Traffic, OfADenseModelIsEveryWeightOnce) {
  const Model model =
      Model::make(open_checkpoint(tiny_model_folder(), without_draft_head()).value(), {}).value();
  ASSERT_TRUE(model.config().tie_word_embeddings);
  const Traffic one = decode_traffic(model, 1, 0);
  const auto stored = static_cast<double>(used_bytes(model));
  EXPECT_GE(one.weights, stored);
  EXPECT_LE(one.weights, 1.01 * stored);
  const double more = decode_traffic(model, 3, 0).weights - one.weights;
  EXPECT_EQ(more,
            2.0 * static_cast<double>(model.weights().embedding.row_slice(0, 1).total_bytes()));
}

TEST(Traffic, OfStateAndKeysGrowsWithStreamsAndDepth) {
  const Model model = open_model(tiny_model_folder());
  const Traffic shallow = decode_traffic(model, 1, 0);
  const Traffic deep = decode_traffic(model, 2, 640);
  EXPECT_EQ(deep.state, 2.0 * shallow.state);
  EXPECT_EQ(shallow.state, 8.0 * static_cast<double>(model.state_shape().recurrent_floats()));
  const double page = static_cast<double>(model.state_shape().page_bytes());
  EXPECT_NEAR(deep.kv - 2.0 * shallow.kv, 2.0 * 10.0 * page, 1e-6 * page);
}

TEST(Traffic, OfExpertsIsThatOfTheChosen) {
  const Model model =
      Model::make(make_synthetic(micro_shape("micro-moe16"), {}, without_draft_head()).value(), {})
          .value();
  const MoeConfig& moe = model.config().moe;
  double experts = 0.0;
  for (const LayerWeights& layer : model.weights().layers) {
    const auto& weights = std::get<MoeWeights>(layer.ffn);
    for (const MatrixStack* stack : {&weights.gate, &weights.up, &weights.down}) {
      experts += static_cast<double>(stack->first.total_bytes() * static_cast<size_t>(moe.experts));
    }
  }
  const double share =
      static_cast<double>(moe.experts_per_token) / static_cast<double>(moe.experts);
  const double one = decode_traffic(model, 1, 0).weights;
  const double all =
      decode_traffic(model, 100000, 0).weights -
      99999.0 * static_cast<double>(model.weights().embedding.row_slice(0, 1).total_bytes());
  EXPECT_NEAR(all - one, (1.0 - share) * experts, 1e-3 * experts);
}

}  // namespace
}  // namespace lockstep::bench
