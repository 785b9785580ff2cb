// Conversions to MLX and Hugging Face folders, read back through the readers of everybody's.
#include <gtest/gtest.h>

#include "checkpoint/convert/convert.h"
#include "checkpoint/testing/opened.h"
#include "checkpoint/testing/same_model.h"
#include "checkpoint/testing/synthetic.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Result<Checkpoint> converted(Result<ConvertReport> report) {
  if (!report.ok()) return report.error();
  return open_checkpoint(report.value().path, {});
}

TEST(ConvertFolder, GoesFromHuggingFaceThroughGgufAndBack) {
  for (const char* shape : {"micro-r1", "micro-r3", "micro-moe16"}) {
    SynthOptions synth;
    synth.layout = Layout::kHuggingFace;
    auto source = make_synthetic(micro_shape(shape), synth);
    const TemporaryFolder folder;
    GgufText text;
    text.model = "gpt2";
    auto gguf = converted(convert_to_gguf(source.value(), text, parse_gguf_type("bf16").value(),
                                          folder.path() / "m.gguf", {}));
    ASSERT_TRUE(gguf.ok()) << gguf.error().message;
    ConvertOptions options;
    options.shard_bytes = 1 << 20;
    auto back =
        converted(convert_to_hugging_face(gguf.value(), {}, folder.path() / "back", options));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back.value().layout, Layout::kHuggingFace);
    EXPECT_EQ(back.value().mtp.origin, MtpOrigin::kIncluded);
    EXPECT_GT(back.value().files.size(), 1u);
    EXPECT_TRUE(back.value().warnings.empty()) << back.value().warnings[0];
    expect_same_model(back.value(), source.value());
    // Names and types are those that it began with, so nothing of the layout is lost either.
    const auto& ours = back.value().tensors.tensors();
    const auto& theirs = source.value().tensors.tensors();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].source_name, theirs[i].source_name);
      EXPECT_EQ(ours[i].dtype, theirs[i].dtype) << ours[i].source_name;
      EXPECT_EQ(ours[i].shape, theirs[i].shape) << ours[i].source_name;
    }
  }
}

// Errors of weights drawn from a bell curve: each bit halves the step, a wider group has a wider
// range.
TEST(ConvertFolder, WritesMlxOfAnyBitsAndGroup) {
  SynthOptions synth;
  synth.layout = Layout::kHuggingFace;
  auto source = make_synthetic(micro_shape("micro-moe16"), synth);
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int group : {32, 64, 128}) {
      const TemporaryFolder folder;
      const auto report =
          convert_to_mlx(source.value(), {bits, group}, {}, folder.path() / "m", {});
      ASSERT_TRUE(report.ok()) << report.error().message;
      const double step = 2.0 * 3.4 / ((1 << bits) - 1);
      EXPECT_LT(report.value().error.worst, 0.33 * step + 0.004) << bits << ", " << group;
      EXPECT_GT(report.value().error.worst, 0.15 * step) << bits << ", " << group;
      auto written = open_checkpoint(folder.path() / "m", {});
      ASSERT_TRUE(written.ok()) << written.error().message;
      EXPECT_EQ(written.value().layout, Layout::kMlx);
      EXPECT_EQ(written.value().mtp.origin, MtpOrigin::kSidecar);
      EXPECT_EQ(written.value().quantization.global->bits, bits);
      EXPECT_TRUE(written.value().warnings.empty()) << written.value().warnings[0];
      const auto* router = written.value().tensors.find("model.layers.0.mlp.gate.weight");
      EXPECT_EQ(router->shape.back() * 32, source.value().config.hidden_size * 8);
    }
  }
}

TEST(ConvertFolder, CopiesFromMlxToMlx) {
  auto source = make_synthetic(micro_shape("micro-moe16"));
  const TemporaryFolder folder;
  const auto report = convert_to_mlx(source.value(), {4, 64}, {}, folder.path() / "m", {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report.value().error.worst, 0.0) << report.value().error.tensor;
}

TEST(ConvertFolder, TakesTextsAlongAndLeavesNothingHalfDone) {
  auto source = make_synthetic(micro_shape("micro-r1"));
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "m";
  const std::vector<TextFile> files = {{"tokenizer.json", "{}"}};
  ConvertOptions stopping;
  stopping.checking = [](uint64_t, uint64_t) { return false; };
  expect_error(convert_to_mlx(source.value(), {4, 64}, files, path, stopping), ErrorCode::kIo,
               "stopped");
  EXPECT_TRUE(fs::is_empty(folder.path()));
  ASSERT_TRUE(convert_to_hugging_face(source.value(), files, path, {}).ok());
  EXPECT_TRUE(fs::exists(path / "tokenizer.json"));
  EXPECT_FALSE(fs::exists(folder.path() / "m.partial"));
  expect_error(convert_to_hugging_face(source.value(), files, path, {}), ErrorCode::kIo,
               "exists already");
  fs::create_directory(folder.path() / "n.partial");
  expect_error(convert_to_hugging_face(source.value(), files, folder.path() / "n", {}),
               ErrorCode::kIo, "left over");
  expect_error(convert_to_mlx(source.value(), {7, 64}, files, folder.path() / "o", {}),
               ErrorCode::kInvalidArgument, "7 bits");
}

// A head of its own beside tie_word_embeddings: true is the head, and the new config says so.
TEST(ConvertFolder, KeepsAHeadThatDiffersFromTheEmbedding) {
  TinyModel tiny = tiny_model();
  tiny.tensors["lm_head.weight"] = random_floats(DType::kBF16, {40, 64}, 9);
  auto source = open_tiny(tiny);
  ASSERT_TRUE(source.ok()) << source.error().message;
  ASSERT_EQ(source.value().head_module, kHeadModule);
  const TemporaryFolder folder;
  auto written = converted(convert_to_hugging_face(source.value(), {}, folder.path() / "m", {}));
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written.value().head_module, kHeadModule);
  EXPECT_FALSE(written.value().config.tie_word_embeddings);
  expect_same_model(written.value(), source.value());
}

}  // namespace
}  // namespace lockstep
