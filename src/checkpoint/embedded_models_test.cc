// The two embedded models open as what they are, and every tensor of theirs is read.
#include <gtest/gtest.h>

#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "checkpoint/matrix_reader.h"
#include "checkpoint/testing/read_everything.h"

namespace lockstep {
namespace {

Checkpoint open_embedded(const char* name, const OpenOptions& options = {}) {
  const auto path = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models" / name;
  auto opened = open_checkpoint(path, options);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : Checkpoint();
}

TEST(EmbeddedModels, DenseOpensWithItsSidecarAndReadsWhole) {
  Checkpoint model = open_embedded("tiny-dense-mlx-4bit");
  EXPECT_EQ(model.config.model_type, "qwen3_5");
  EXPECT_EQ(model.config.ffn, Ffn::kDense);
  EXPECT_EQ(model.config.layers.size(), 8u);
  EXPECT_EQ(model.config.layers[3], Mixer::kFullAttention);
  EXPECT_EQ(model.config.attention.rotary_dim, 64);
  EXPECT_EQ(model.config.delta.conv_channels(), 1024);
  EXPECT_EQ(model.config.eos_ids, (std::vector<int32_t>{12262, 12264}));
  EXPECT_EQ(model.layout, Layout::kMlx);
  EXPECT_FALSE(model.norms.add_one);
  EXPECT_EQ(model.mtp.origin, MtpOrigin::kSidecar);
  EXPECT_FALSE(model.mtp_norms.add_one) << model.mtp_norms.reason;
  EXPECT_EQ(model.config.mtp_layers, 1);
  EXPECT_EQ(model.head_module, "model.embed_tokens");
  EXPECT_EQ(model.generation.top_k, 20);
  EXPECT_EQ(model.generation.temperature, 0.7);
  EXPECT_TRUE(model.warnings.empty()) << model.warnings[0];
  read_everything(model);
  EXPECT_TRUE(check_no_unknown_tensors(model).ok());
  EXPECT_TRUE(unused_tensors(model).unneeded.empty());
}

TEST(EmbeddedModels, MoeOpensFromShardsWithItsIncludedHeadAndReadsWhole) {
  Checkpoint model = open_embedded("tiny-moe-mlx-4bit");
  EXPECT_EQ(model.config.model_type, "qwen3_5_moe");
  EXPECT_EQ(model.config.moe.experts, 16);
  EXPECT_EQ(model.config.moe.experts_per_token, 4);
  EXPECT_EQ(model.files.size(), 2u);
  EXPECT_EQ(model.mtp.origin, MtpOrigin::kIncluded);
  EXPECT_FALSE(model.mtp_norms.add_one) << model.mtp_norms.reason;
  EXPECT_EQ(model.head_module, "lm_head");
  read_everything(model);
  EXPECT_TRUE(check_no_unknown_tensors(model).ok());
  EXPECT_TRUE(unused_tensors(model).unneeded.empty());
}

TEST(EmbeddedModels, DraftHeadCanBeTurnedOffAndIsThenListed) {
  OpenOptions options;
  options.use_mtp = false;
  Checkpoint model = open_embedded("tiny-moe-mlx-4bit", options);
  EXPECT_EQ(model.mtp.origin, MtpOrigin::kNone);
  EXPECT_EQ(model.config.mtp_layers, 0);
  read_everything(model);
  const UnusedTensors unused = unused_tensors(model);
  EXPECT_TRUE(unused.unknown.empty());
  ASSERT_EQ(unused.unneeded.size(), 1u);
  EXPECT_EQ(unused.unneeded[0].what, "draft head (off)");
  EXPECT_GT(unused.unneeded[0].bytes, 0u);
}

TEST(EmbeddedModels, TheHeadOfTheOtherModelIsRefused) {
  OpenOptions options;
  const std::filesystem::path models = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models";
  options.mtp_path = models / "tiny-dense-mlx-4bit" / "mtp";
  const auto opened = open_checkpoint(models / "tiny-moe-mlx-4bit", options);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("num_experts"), std::string::npos)
      << opened.error().message;
}

TEST(EmbeddedModels, ProgressStartsAtZeroRisesAndEndsAtAll) {
  OpenOptions options;
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  options.progress = [&](uint64_t done, uint64_t total) { steps.emplace_back(done, total); };
  const Checkpoint model = open_embedded("tiny-dense-mlx-4bit", options);
  ASSERT_GE(steps.size(), 2u);
  EXPECT_EQ(steps.front().first, 0u);
  uint64_t bytes = 0;
  for (const TensorRecord& record : model.tensors.tensors()) bytes += record.bytes;
  EXPECT_EQ(steps.back(), std::make_pair(bytes, bytes));
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_GE(steps[i].first, steps[i - 1].first);
}

TEST(EmbeddedModels, ViewsOutliveAMoveOfTheCheckpoint) {
  Checkpoint model = open_embedded("tiny-dense-mlx-4bit");
  const auto view = read_matrix(model, "model.layers.0.mlp.up_proj", 1024, 384);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view.value().bits, 4);
  EXPECT_EQ(view.value().group, 64);
  std::vector<float> before(384);
  std::vector<float> after(384);
  decode_row(view.value(), 1023, before.data());
  const Checkpoint moved = std::move(model);
  decode_row(view.value(), 1023, after.data());
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace lockstep
