#include "checkpoint/synth/synth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/float16.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/matrix_reader.h"
#include "checkpoint/testing/read_everything.h"
#include "checkpoint/testing/synthetic.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const fs::path kLender = fs::path(LOCKSTEP_SOURCE_DIR) / "models" / "tiny-dense-mlx-4bit";

SynthReport write(const SynthShape& shape, const fs::path& folder, const SynthOptions& options) {
  auto report = write_synthetic_checkpoint(shape, folder, options);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? report.value() : SynthReport();
}

Checkpoint open(const fs::path& folder, const OpenOptions& options = {}) {
  auto opened = open_checkpoint(folder, options);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : Checkpoint();
}

// Opens without a warning, and every tensor is one that the model reads.
void expect_reads_whole(Checkpoint& model) {
  read_everything(model);
  for (const std::string& warning : model.warnings) ADD_FAILURE() << warning;
  const Status known = check_no_unknown_tensors(model);
  EXPECT_TRUE(known.ok()) << known.error().message;
  EXPECT_TRUE(unused_tensors(model).unneeded.empty());
}

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    auto text = read_text_file(entry.path(), size_t{1} << 30);
    EXPECT_TRUE(text.ok());
    files[fs::relative(entry.path(), folder).string()] = text.value();
  }
  return files;
}

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return hash;
}

TEST(Synth, EveryMicroShapeOpensInEachLayoutAndReadsWhole) {
  for (const SynthShape& shape : synth_shapes()) {
    if (!shape.name.starts_with("micro-")) continue;
    for (const Layout layout : {Layout::kMlx, Layout::kHuggingFace}) {
      const TemporaryFolder folder;
      const SynthReport report =
          write(shape, folder.path(), {.layout = layout, .tokenizer_folder = kLender});
      Checkpoint model = open(folder.path());
      SCOPED_TRACE(shape.name);
      expect_reads_whole(model);
      EXPECT_EQ(model.layout, layout);
      EXPECT_EQ(model.norms.add_one, layout == Layout::kHuggingFace);
      EXPECT_EQ(model.mtp_norms.add_one, layout == Layout::kHuggingFace);
      EXPECT_EQ(model.mtp.origin, MtpOrigin::kIncluded);
      EXPECT_EQ(model.config.moe.experts, shape.experts);
      EXPECT_EQ(model.config.eos_ids, (std::vector<int32_t>{12262, 12264}));
      EXPECT_EQ(static_cast<int64_t>(model.tensors.tensors().size()), report.tensors);
      EXPECT_EQ(report.parameters.text, count_parameters(shape).text);
      EXPECT_TRUE(fs::exists(folder.path() / "chat_template.jinja"));
    }
  }
}

TEST(Synth, DraftHeadMayLieBesideOrBeAbsent) {
  for (const char* name : {"micro-r3", "micro-moe16"}) {
    const TemporaryFolder beside;
    write(micro_shape(name), beside.path(), {.mtp = SynthMtp::kSidecar});
    Checkpoint model = open(beside.path());
    expect_reads_whole(model);
    EXPECT_EQ(model.mtp.origin, MtpOrigin::kSidecar);
    EXPECT_FALSE(model.mtp_norms.add_one) << model.mtp_norms.reason;

    for (const Layout layout : {Layout::kMlx, Layout::kHuggingFace}) {
      const TemporaryFolder without;
      const SynthReport report =
          write(micro_shape(name), without.path(), {.layout = layout, .mtp = SynthMtp::kAbsent});
      Checkpoint alone = open(without.path());
      expect_reads_whole(alone);
      EXPECT_EQ(alone.mtp.origin, MtpOrigin::kNone);
      EXPECT_EQ(report.parameters.mtp, 0);

      OpenOptions foreign;  // of the same shape, so it fits
      foreign.mtp_path = beside.path() / "mtp";
      EXPECT_EQ(open(without.path(), foreign).mtp.origin, MtpOrigin::kSidecar);
    }
  }
}

TEST(Synth, ShardsHoldTheSameTensors) {
  const TemporaryFolder whole;
  const TemporaryFolder split;
  const SynthShape shape = micro_shape("micro-moe16");
  write(shape, whole.path(), {.seed = 4});
  write(shape, split.path(), {.seed = 4, .shard_bytes = 300'000});
  Checkpoint one = open(whole.path());
  Checkpoint many = open(split.path());
  expect_reads_whole(many);
  EXPECT_GT(many.files.size(), 3u);
  ASSERT_EQ(one.tensors.tensors().size(), many.tensors.tensors().size());
  for (const TensorRecord& tensor : one.tensors.tensors()) {
    const TensorRecord* same = many.tensors.find(tensor.name);
    ASSERT_NE(same, nullptr) << tensor.name;
    ASSERT_EQ(same->bytes, tensor.bytes);
    EXPECT_EQ(std::memcmp(same->data, tensor.data, tensor.bytes), 0) << tensor.name;
  }
}

TEST(Synth, BytesDependOnTheSeedAndNotOnThreads) {
  for (const Layout layout : {Layout::kMlx, Layout::kHuggingFace}) {
    SynthOptions options = {.layout = layout, .seed = 9};
    const TemporaryFolder first, second, other;
    write(micro_shape("micro-moe16"), first.path(), options);
    ThreadPool pool(3);
    options.pool = &pool;
    write(micro_shape("micro-moe16"), second.path(), options);
    options.seed = 10;
    write(micro_shape("micro-moe16"), other.path(), options);
    EXPECT_TRUE(contents(first.path()) == contents(second.path()));
    EXPECT_NE(contents(first.path())["model.safetensors"],
              contents(other.path())["model.safetensors"]);
  }
}

// The same on every machine: figures elsewhere are made from these checkpoints.
TEST(Synth, BytesAreThoseOfThisVersion) {
  const struct {
    Layout layout;
    int bits;
    uint64_t hash;
  } kKnown[] = {{Layout::kMlx, 4, 3248101141725182920u},
                {Layout::kMlx, 5, 5805821059998583755u},
                {Layout::kHuggingFace, 4, 4036015851791635528u}};
  for (const auto& known : kKnown) {
    const TemporaryFolder folder;
    write(micro_shape("micro-moe16"), folder.path(), {.layout = known.layout, .bits = known.bits});
    EXPECT_EQ(fnv1a(contents(folder.path())["model.safetensors"]), known.hash);
  }
}

// Unquantised, the two layouts are one model: renamed, reshaped, experts split, norms plus one.
TEST(Synth, LayoutsHoldTheSameModel) {
  const SynthShape shape = micro_shape("micro-moe16");
  Checkpoint mlx = make_synthetic(shape, {.overrides = {{"", 0, 64}}}).value();
  Checkpoint hf = make_synthetic(shape, {.layout = Layout::kHuggingFace}).value();
  expect_reads_whole(mlx);
  for (const std::string layer : {"model.layers.1", "model.layers.3", "mtp.layers.0"}) {
    for (const char* norm : {".input_layernorm.weight", ".post_attention_layernorm.weight"}) {
      const auto plain = read_vector(mlx, layer + norm, shape.hidden, mlx.norms.add_one);
      const auto shifted = read_vector(hf, layer + norm, shape.hidden, hf.norms.add_one);
      EXPECT_EQ(plain.value(), shifted.value());
    }
    for (const ExpertMatrix which : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
      const bool down = which == ExpertMatrix::kDown;
      const int64_t rows = down ? shape.hidden : shape.expert_intermediate;
      const int64_t cols = down ? shape.expert_intermediate : shape.hidden;
      const auto a = read_expert_stack(mlx, layer + ".mlp", which, shape.experts, rows, cols);
      const auto b = read_expert_stack(hf, layer + ".mlp", which, shape.experts, rows, cols);
      ASSERT_TRUE(a.ok() && b.ok());
      for (int64_t expert = 0; expert < shape.experts; ++expert) {
        EXPECT_EQ(std::memcmp(a.value().at(expert).data, b.value().at(expert).data,
                              static_cast<size_t>(rows * cols * 2)),
                  0);
      }
    }
  }
  const std::string delta = "model.layers.0.linear_attn.";
  EXPECT_EQ(read_conv_weight(mlx, delta + "conv1d.weight", shape.conv_channels(), 4).value(),
            read_conv_weight(hf, delta + "conv1d.weight", shape.conv_channels(), 4).value());
  for (const char* name : {"A_log", "dt_bias"}) {
    EXPECT_EQ(read_vector(mlx, delta + name, shape.value_heads, false).value(),
              read_vector(hf, delta + name, shape.value_heads, false).value());
  }
  EXPECT_EQ(hf.tensors.find(delta + "norm.weight")->dtype, DType::kF32);
  EXPECT_EQ(hf.tensors.find(delta + "A_log")->dtype, DType::kF32);
}

// Per token, with a = 0: exp(-exp(A_log) * softplus(dt_bias)).
TEST(Synth, DecaysSpanFromNothingToAlmostOne) {
  for (const char* name : {"micro-r1", "micro-r3", "micro-r8"}) {
    const SynthShape shape = micro_shape(name);
    Checkpoint model = make_synthetic(shape).value();
    double slowest = 0.0;
    double fastest = 1.0;
    for (const std::string layer : {"0", "1", "2"}) {
      const std::string prefix = "model.layers." + layer + ".linear_attn.";
      const auto a_log = read_vector(model, prefix + "A_log", shape.value_heads, false).value();
      const auto dt = read_vector(model, prefix + "dt_bias", shape.value_heads, false).value();
      for (size_t head = 0; head < a_log.size(); ++head) {
        EXPECT_GE(std::exp(a_log[head]), 0.0037);
        EXPECT_LE(std::exp(a_log[head]), 0.34);
        const double decay = std::exp(-std::exp(a_log[head]) * std::log1p(std::exp(dt[head])));
        slowest = std::max(slowest, decay);
        fastest = std::min(fastest, decay);
      }
    }
    EXPECT_GT(slowest, 0.95) << name;
    EXPECT_LT(fastest, 0.6) << name;
  }
}

TEST(Synth, NothingIsLeftWhenStopped) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "deep" / "model";
  SynthOptions options = {.mtp = SynthMtp::kSidecar, .shard_bytes = 100'000};
  int calls = 0;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    return ++calls < 40;
  };
  const auto report = write_synthetic_checkpoint(micro_shape("micro-r1"), target, options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(calls, 40);
  EXPECT_FALSE(fs::exists(target));
}

// The weights have their names by the time that config.json turns out to be in the way.
TEST(Synth, NothingIsLeftWhenTheLastFileFails) {
  const TemporaryFolder folder;
  SynthOptions options = {.tokenizer_folder = kLender, .mtp = SynthMtp::kSidecar};
  options.progress = [&](uint64_t done, uint64_t total) {
    if (done == total) fs::create_directory(folder.path() / "config.json");
    return true;
  };
  const auto shape = find_synth_shape("micro-r1").value();
  ASSERT_FALSE(write_synthetic_checkpoint(shape, folder.path(), options).ok());
  fs::remove(folder.path() / "config.json");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Synth, ProgressEndsAtAllBytes) {
  const TemporaryFolder folder;
  std::pair<uint64_t, uint64_t> last;
  SynthOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GE(done, last.first);
    last = {done, total};
    return true;
  };
  const SynthReport report = write(micro_shape("micro-r1"), folder.path() / "model", options);
  EXPECT_EQ(last, std::make_pair(report.tensor_bytes, report.tensor_bytes));
  Checkpoint model = open(folder.path() / "model");
  uint64_t bytes = 0;
  for (const TensorRecord& tensor : model.tensors.tensors()) bytes += tensor.bytes;
  EXPECT_EQ(bytes, report.tensor_bytes);
}

void expect_refused(const SynthShape& shape, const fs::path& folder, const SynthOptions& options,
                    std::initializer_list<std::string_view> words) {
  const auto report = write_synthetic_checkpoint(shape, folder, options);
  ASSERT_FALSE(report.ok());
  for (const std::string_view word : words) {
    EXPECT_NE(report.error().message.find(word), std::string::npos) << report.error().message;
  }
}

TEST(Synth, RefusesByName) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "model";
  expect_refused(find_synth_shape("27b").value(), target, {.layout = Layout::kHuggingFace},
                 {"27b", "54.64 GB", "9b", "mlx4"});
  SynthShape endless = micro_shape("micro-r1");
  endless.vocab = int64_t{1} << 50;
  expect_refused(endless, target, {}, {"GB of disk", "free"});
  expect_refused(micro_shape("micro-r1"), target, {.tokenizer_folder = kLender}, {"12288", "320"});
  expect_refused(micro_shape("micro-r1"), target, {.tokenizer_folder = folder.path() / "no"},
                 {"config.json"});
  expect_refused(micro_shape("micro-r1"), target, {.bits = 7}, {"7 bits"});
  expect_refused(micro_shape("micro-r1"), target, {.overrides = {{"mlp", 4, 16}}},
                 {"groups of 16"});
  expect_refused(micro_shape("micro-r1"), target,
                 {.layout = Layout::kHuggingFace, .mtp = SynthMtp::kSidecar}, {"MLX layout"});
  EXPECT_FALSE(fs::exists(target));
  expect_refused(micro_shape("micro-r1"), kLender, {}, {"not empty"});
  expect_refused(micro_shape("micro-r1"), kLender / "config.json", {}, {"not a folder"});
  EXPECT_FALSE(parse_synth_format("gguf").ok());
}

}  // namespace
}  // namespace lockstep
