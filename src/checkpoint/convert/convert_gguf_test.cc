// Conversions to GGUF, read back through the reader that reads everybody's files.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "checkpoint/convert/convert.h"
#include "checkpoint/convert/gguf_plan.h"
#include "checkpoint/testing/opened.h"
#include "checkpoint/testing/same_model.h"
#include "checkpoint/testing/synthetic.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Tokens that nothing reads here: a vocabulary is needed to be a GGUF file of this family.
GgufText no_text() {
  GgufText text;
  text.model = "gpt2";
  text.pre = "qwen35";
  return text;
}

GgufTensorType type_named(std::string_view name) { return parse_gguf_type(name).value(); }

Result<ConvertReport> convert(Checkpoint& source, std::string_view type, const fs::path& path,
                              const ConvertOptions& options = {}) {
  return convert_to_gguf(source, no_text(), type_named(type), path, options);
}

// Any layout to GGUF and, read again in the first one's conventions, the same values: every
// transform undone by one that was written and tested for itself.
TEST(ConvertGguf, KeepsEveryValueOfEveryLayout) {
  for (const char* shape : {"micro-r1", "micro-r3", "micro-moe16"}) {
    for (const Layout layout : {Layout::kHuggingFace, Layout::kMlx}) {
      SynthOptions options;
      options.layout = layout;
      auto source = make_synthetic(micro_shape(shape), options);
      ASSERT_TRUE(source.ok()) << source.error().message;
      const TemporaryFolder folder;
      ThreadPool pool(3);
      const auto report = convert(source.value(), "f32", folder.path() / "m.gguf", {.pool = &pool});
      ASSERT_TRUE(report.ok()) << report.error().message;
      EXPECT_EQ(report.value().error.worst, 0.0) << report.value().error.tensor;
      auto written = open_checkpoint(folder.path() / "m.gguf", {});
      ASSERT_TRUE(written.ok()) << written.error().message;
      EXPECT_EQ(written.value().mtp.origin, MtpOrigin::kIncluded);
      EXPECT_EQ(written.value().config.layers, source.value().config.layers);
      EXPECT_EQ(written.value().config.delta.order,
                shape == std::string("micro-r1") ? ValueHeads::kGrouped : ValueHeads::kTiled);
      expect_same_model(written.value(), source.value());
    }
  }
}

TEST(ConvertGguf, CopiesFromGgufToGguf) {
  auto source = make_synthetic(micro_shape("micro-r3"));
  const TemporaryFolder folder;
  ASSERT_TRUE(convert(source.value(), "q4_k", folder.path() / "a.gguf").ok());
  auto first = open_checkpoint(folder.path() / "a.gguf", {});
  const auto report = convert(first.value(), "q4_k", folder.path() / "b.gguf");
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report.value().error.worst, 0.0) << report.value().error.tensor;
}

std::set<std::string> types_of(const Checkpoint& checkpoint) {
  std::set<std::string> types;
  for (const TensorRecord& record : checkpoint.tensors.tensors()) {
    if (record.shape.size() > 1) types.insert(stored_type(record));
  }
  return types;
}

TEST(ConvertGguf, WritesTheTypesThatFit) {
  auto source = make_synthetic(micro_shape("micro-moe16"));
  const TemporaryFolder folder;
  const struct {
    const char* type;
    double error;  // of weights drawn from a bell curve: block_quantiser_test.cc
    std::set<std::string> types;
  } cases[] = {{"f16", 1e-3, {"F16", "F32"}},
               {"bf16", 4e-3, {"BF16", "F32"}},
               {"q8_0", 7e-3, {"Q8_0", "F32"}},
               {"q4_0", 0.11, {"Q4_0", "Q8_0", "F32"}},
               {"q4_k", 0.11, {"Q4_K", "Q8_0", "F32"}}};
  for (const auto& item : cases) {
    const fs::path path = folder.path() / item.type;
    const auto report = convert(source.value(), item.type, path);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_LT(report.value().error.worst, item.error) << report.value().error.tensor;
    auto written = open_checkpoint(path, {});
    EXPECT_EQ(types_of(written.value()), item.types) << item.type;
  }
}

TEST(ConvertGguf, FindsAChangedByte) {
  auto source = make_synthetic(micro_shape("micro-r3"));
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "m.gguf";
  ASSERT_TRUE(convert(source.value(), "q8_0", path).ok());
  const auto plan = plan_gguf(source.value(), type_named("q8_0"));
  ThreadPool pool(1);
  EXPECT_TRUE(read_back(plan.value(), path, pool, {}).ok());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-7, std::ios::end);
  const char other = static_cast<char>(file.get() ^ 1);
  file.seekp(-7, std::ios::end);
  file.put(other);
  file.close();
  expect_error(read_back(plan.value(), path, pool, {}), ErrorCode::kBadFile, "does not read back");
}

TEST(ConvertGguf, LeavesNothingHalfDone) {
  auto source = make_synthetic(micro_shape("micro-r1"));
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "m.gguf";
  const auto is_empty = [&] { return fs::is_empty(folder.path()); };
  int calls = 0;
  ConvertOptions stopping;
  stopping.writing = [&](uint64_t, uint64_t) { return ++calls < 3; };
  expect_error(convert(source.value(), "f16", path, stopping), ErrorCode::kIo, "stopped");
  EXPECT_TRUE(is_empty());
  stopping.writing = {};
  stopping.checking = [](uint64_t, uint64_t) { return false; };
  expect_error(convert(source.value(), "f16", path, stopping), ErrorCode::kIo, "stopped");
  EXPECT_TRUE(is_empty());
  write_file(path, "mine");
  expect_error(convert(source.value(), "f16", path), ErrorCode::kIo, "exists already");
  std::ifstream kept(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "mine");
}

TEST(ConvertGguf, RefusesWhatTheFormatCannotHold) {
  TinyModel tiny = tiny_model({.dtype = DType::kF32});
  const std::string name = "model.layers.0.linear_attn.out_proj.weight";
  const float large = 1e6f;
  std::memcpy(tiny.tensors.at(name).bytes.data() + 8, &large, sizeof(large));
  auto source = open_tiny(tiny);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "m.gguf";
  expect_error(convert(source.value(), "f16", path), ErrorCode::kNumeric,
               "out_proj.weight, row 0: a value is not finite, or too large for F16");
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_TRUE(convert(source.value(), "f32", path).ok());
  TinyModel sigmoid = tiny_model();
  sigmoid.text()["output_gate_type"] = "sigmoid";
  auto other = open_tiny(sigmoid);
  ASSERT_TRUE(other.ok()) << other.error().message;
  expect_error(convert(other.value(), "f16", folder.path() / "s.gguf"), ErrorCode::kUnsupported,
               "output_gate_type");
  TinyModel strange = tiny_model();
  strange.tensors["model.layers.0.surprise.weight"] = strange.tensors.begin()->second;
  auto unknown = open_tiny(strange);
  expect_error(convert(unknown.value(), "f16", folder.path() / "u.gguf"), ErrorCode::kUnsupported,
               "surprise");
}

}  // namespace
}  // namespace lockstep
