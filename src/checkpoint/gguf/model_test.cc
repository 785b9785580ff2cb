#include "checkpoint/gguf/model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "checkpoint/gguf/config.h"
#include "checkpoint/gguf/names.h"
#include "checkpoint/gguf/writer.h"
#include "checkpoint/testing/opened.h"
#include "checkpoint/testing/read_everything.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string figure(const std::string& name) {
  return std::string(LOCKSTEP_SOURCE_DIR) + "/tests/figures/gguf/" + name;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(GgufModel, OpensWithEveryTensorReadAndNoneLeft) {
  for (const char* name : {"dense-f32.gguf", "dense-q8_0.gguf", "moe-mixed.gguf"}) {
    auto opened = open_checkpoint(figure(name), {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Checkpoint& checkpoint = opened.value();
    EXPECT_EQ(checkpoint.layout, Layout::kGguf);
    EXPECT_FALSE(checkpoint.norms.add_one);
    EXPECT_FALSE(checkpoint.mtp_norms.add_one);
    EXPECT_TRUE(checkpoint.warnings.empty());
    EXPECT_EQ(checkpoint.config.vocab_size, 64);
    EXPECT_EQ(checkpoint.config.delta.order, ValueHeads::kTiled);
    EXPECT_EQ(checkpoint.config.delta.value_dim, 16);
    EXPECT_EQ(checkpoint.config.rope.mrope_section, (std::array<int64_t, 3>{2, 1, 1}));
    read_everything(checkpoint);
    EXPECT_TRUE(check_no_unknown_tensors(checkpoint).ok());
    EXPECT_TRUE(unused_tensors(checkpoint).unneeded.empty());
  }
}

TEST(GgufModel, TellsLayersHeadAndDraftHead) {
  const auto dense = open_checkpoint(figure("dense-q8_0.gguf"), {});
  EXPECT_EQ(dense.value().config.layers,
            (std::vector<Mixer>{Mixer::kGatedDelta, Mixer::kGatedDelta, Mixer::kGatedDelta,
                                Mixer::kFullAttention}));
  EXPECT_EQ(dense.value().mtp.origin, MtpOrigin::kIncluded);
  EXPECT_EQ(dense.value().head_module, kEmbeddingModule);
  const auto moe = open_checkpoint(figure("moe-mixed.gguf"), {});
  EXPECT_EQ(moe.value().mtp.origin, MtpOrigin::kNone);
  EXPECT_EQ(moe.value().head_module, kHeadModule);
  EXPECT_EQ(moe.value().config.moe.experts_per_token, 2);
  OpenOptions without_draft_head;
  without_draft_head.use_mtp = false;
  const auto off = open_checkpoint(figure("dense-q8_0.gguf"), without_draft_head);
  EXPECT_EQ(off.value().config.mtp_layers, 0);
  ASSERT_EQ(unused_tensors(off.value()).unneeded.size(), 1u);
  EXPECT_EQ(unused_tensors(off.value()).unneeded[0].what, "draft head (off)");
}

TEST(GgufModel, IsFoundInAFolderAndAsAFirstPart) {
  const TempFolder folder;
  const std::string file = contents(figure("dense-f32.gguf"));
  write_file(folder.path() / "model.gguf", file);
  write_file(folder.path() / "mmproj-model.gguf", "GGUF");
  EXPECT_EQ(open_checkpoint(folder.path(), {}).value().path, folder.path() / "model.gguf");
  write_file(folder.path() / "other.gguf", file);
  expect_error(open_checkpoint(folder.path(), {}), ErrorCode::kInvalidArgument,
               "name one of model.gguf, other.gguf");
  write_file(folder.path() / "no-ending", file);
  EXPECT_TRUE(open_checkpoint(folder.path() / "no-ending", {}).ok());
}

// A part of a set with one tensor, or with none but the keys of `part`.
std::string part_of_set(uint32_t number, uint32_t count, const char* tensor) {
  GgufWriter writer;
  writer.add("split.no", number);
  writer.add("split.count", count);
  const int64_t shape[] = {4};
  writer.add_tensor(tensor, {DType::kF32, {}}, shape);
  std::string file = writer.header();
  file.resize(writer.file_bytes());
  return file;
}

TEST(GgufModel, JoinsTheFilesOfASet) {
  const TempFolder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  write_file(path("m-00001-of-00002.gguf"), part_of_set(0, 2, "a"));
  expect_error(open_gguf(path("m-00001-of-00002.gguf")), ErrorCode::kNotFound,
               "missing: m-00002-of-00002.gguf");
  write_file(path("m-00002-of-00002.gguf"), part_of_set(1, 2, "b"));
  const auto both = open_gguf(path("m-00001-of-00002.gguf"));
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(both.value().tensors.size(), 2u);
  EXPECT_EQ(both.value().files.size(), 2u);
  EXPECT_EQ(find_gguf(folder.path()).value(), path("m-00001-of-00002.gguf"));
  expect_error(open_gguf(path("m-00002-of-00002.gguf")), ErrorCode::kInvalidArgument,
               "name the first");
  write_file(path("m-00002-of-00002.gguf"), part_of_set(0, 2, "b"));
  expect_error(open_gguf(path("m-00001-of-00002.gguf")), ErrorCode::kBadFile,
               "says that it is file 1 of 2");
  write_file(path("renamed.gguf"), part_of_set(0, 2, "a"));
  expect_error(open_gguf(path("renamed.gguf")), ErrorCode::kBadFile, "one of 2 files");
}

using Keys = std::map<std::string, std::function<void(GgufWriter&, const std::string&)>>;

template <typename T>
auto value(T v) {
  return [v](GgufWriter& writer, const std::string& key) { writer.add(key, v); };
}

Keys dense_keys() {
  const std::vector<int32_t> sections = {11, 11, 10, 0};
  return {{"general.architecture", value("qwen35")},
          {"qwen35.block_count", value(uint32_t{9})},
          {"qwen35.nextn_predict_layers", value(uint32_t{1})},
          {"qwen35.context_length", value(uint32_t{4096})},
          {"qwen35.embedding_length", value(uint32_t{512})},
          {"qwen35.feed_forward_length", value(uint32_t{1024})},
          {"qwen35.attention.head_count", value(uint32_t{4})},
          {"qwen35.attention.head_count_kv", value(uint32_t{2})},
          {"qwen35.attention.key_length", value(uint32_t{256})},
          {"qwen35.attention.layer_norm_rms_epsilon", value(1e-6f)},
          {"qwen35.rope.freq_base", value(1e7f)},
          {"qwen35.rope.dimension_count", value(uint32_t{64})},
          {"qwen35.rope.dimension_sections",
           [sections](GgufWriter& writer, const std::string& key) {
             writer.add(key, std::span<const int32_t>(sections));
           }},
          {"qwen35.ssm.conv_kernel", value(uint32_t{4})},
          {"qwen35.ssm.state_size", value(uint32_t{128})},
          {"qwen35.ssm.group_count", value(uint32_t{2})},
          {"qwen35.ssm.time_step_rank", value(uint32_t{4})},
          {"qwen35.ssm.inner_size", value(uint32_t{512})}};
}

std::string file_of(const Keys& keys) {
  GgufWriter writer;
  for (const auto& [key, add] : keys) add(writer, key);
  return writer.header();
}

// Reads the keys and says what came of it: "" or the message.
std::string outcome(const Keys& keys) {
  const std::string file = file_of(keys);
  const auto parsed = parse_gguf(std::as_bytes(std::span(file)), "m.gguf");
  const auto config = read_gguf_config(parsed.value().metadata);
  return config.ok() ? "" : config.error().message;
}

TEST(GgufConfig, ReadsTheKeysOfADenseModel) {
  const std::string file = file_of(dense_keys());
  const auto parsed = parse_gguf(std::as_bytes(std::span(file)), "m.gguf");
  const auto config = read_gguf_config(parsed.value().metadata);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config.value().layers.size(), 8u);
  EXPECT_EQ(config.value().layers[3], Mixer::kFullAttention);
  EXPECT_EQ(config.value().layers[4], Mixer::kGatedDelta);
  EXPECT_EQ(config.value().mtp_layers, 1);
  EXPECT_EQ(config.value().attention.rotary_dim, 64);
  EXPECT_EQ(config.value().delta.value_dim, 128);
  EXPECT_EQ(config.value().delta.order, ValueHeads::kTiled);
  EXPECT_EQ(config.value().rope.theta, 1e7);
}

TEST(GgufConfig, NamesEachMissingOrImpossibleKey) {
  for (const auto& [key, add] : dense_keys()) {
    if (key.ends_with("nextn_predict_layers") || key.ends_with("dimension_sections")) continue;
    Keys keys = dense_keys();
    keys.erase(key);
    EXPECT_NE(outcome(keys).find(key + ": found nothing"), std::string::npos) << outcome(keys);
    keys[key] = value("text");
    EXPECT_NE(outcome(keys).find(key + ": found \"text\""), std::string::npos) << outcome(keys);
    if (key == "general.architecture") continue;
    keys[key] = value(uint32_t{0});
    EXPECT_NE(outcome(keys).find(key + ": found 0"), std::string::npos) << outcome(keys);
    keys[key] = value(0xffffffffu);
    const bool is_theta = key.ends_with("freq_base");
    EXPECT_EQ(outcome(keys).empty(), is_theta) << key;
  }
}

TEST(GgufConfig, RefusesWhatItWouldRunWrongly) {
  const auto with = [](const char* key, const auto& add) {
    Keys keys = dense_keys();
    keys[key] = add;
    return outcome(keys);
  };
  const auto expect_named = [](const std::string& got, const char* part) {
    EXPECT_NE(got.find(part), std::string::npos) << got;
  };
  expect_named(with("general.architecture", value("llama")), "other architectures are not run");
  expect_named(with("general.architecture", value("clip")), "vision tower (mmproj)");
  expect_named(with("qwen35.ssm.conv_kernel", value(uint32_t{3})), "ssm.conv_kernel: found 3");
  expect_named(with("qwen35.ssm.time_step_rank", value(uint32_t{3})),
               "a multiple of ssm.group_count");
  expect_named(with("qwen35.ssm.inner_size", value(uint32_t{510})), "ssm.inner_size");
  expect_named(with("qwen35.attention.value_length", value(uint32_t{128})), "value_length");
  expect_named(with("qwen35.rope.scaling.type", value("linear")), R"("none" or "yarn")");
  expect_named(with("qwen35.rope.scaling.type", value("yarn")), "rope.scaling.factor");
  expect_named(with("qwen35.block_count", value(uint32_t{1})), "block_count: found 1");
  expect_named(with("qwen35.rope.dimension_count", value(uint32_t{62})), "dimension_sections");
  EXPECT_EQ(with("qwen35.rope.scaling.type", value("none")), "");
}

TEST(GgufNames, AreThoseOfTheFamily) {
  const std::map<std::string, std::string> names = {
      {"token_embd.weight", "model.embed_tokens.weight"},
      {"blk.0.ssm_a", "model.layers.0.linear_attn.A_log"},
      {"blk.3.attn_q.weight", "model.layers.3.self_attn.q_proj.weight"},
      {"blk.4.attn_q.weight", "mtp.layers.0.self_attn.q_proj.weight"},
      {"blk.4.nextn.eh_proj.weight", "mtp.fc.weight"},
      {"v.blk.0.ln1.weight", "visual.v.blk.0.ln1.weight"},
      {"blk.5.attn_q.weight", "blk.5.attn_q.weight"},
      {"blk.3.nextn.eh_proj.weight", "blk.3.nextn.eh_proj.weight"},
      {"blk.99999999999999999999.attn_q.weight", "blk.99999999999999999999.attn_q.weight"},
      {"blk.-1.attn_q.weight", "blk.-1.attn_q.weight"},
      {"blk.0", "blk.0"}};
  for (const auto& [stored, canonical] : names) {
    EXPECT_EQ(canonical_gguf_name(stored, 4), canonical);
  }
}

}  // namespace
}  // namespace lockstep
