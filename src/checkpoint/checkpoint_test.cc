// Whole checkpoints: every layout opens and is read in full, and what is odd is said or refused.
#include "checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include "checkpoint/testing/opened.h"
#include "checkpoint/testing/read_everything.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

void expect_whole(Checkpoint& model) {
  read_everything(model);
  const Status status = check_no_unknown_tensors(model);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST(Checkpoint, EveryLayoutOpensAndIsReadWhole) {
  for (const Layout layout : {Layout::kHuggingFace, Layout::kMlx}) {
    for (const bool moe : {false, true}) {
      for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
        for (const bool quantised : {false, layout == Layout::kMlx}) {
          const TinyModel tiny =
              tiny_model({.layout = layout, .moe = moe, .quantised = quantised, .dtype = dtype});
          auto opened = open_tiny(tiny);
          ASSERT_TRUE(opened.ok()) << opened.error().message;
          Checkpoint& model = opened.value();
          EXPECT_EQ(model.layout, layout);
          EXPECT_EQ(model.norms.add_one, layout == Layout::kHuggingFace);
          EXPECT_EQ(model.mtp_norms.add_one, layout == Layout::kHuggingFace)
              << model.mtp_norms.reason;
          EXPECT_EQ(model.mtp.origin, MtpOrigin::kIncluded);
          EXPECT_TRUE(model.warnings.empty()) << model.warnings[0];
          expect_whole(model);
          EXPECT_TRUE(unused_tensors(model).unneeded.empty());
        }
      }
    }
  }
}

TEST(Checkpoint, EveryPrefixInTheWildMeansTheSame) {
  for (const char* prefix : {"model.", "model.language_model.", "language_model.model.", ""}) {
    for (const char* mtp : {"mtp.", "model.mtp.", "language_model.mtp."}) {
      TinyModel tiny = tiny_model();
      tiny.tensors = respell(respell(tiny.tensors, "mtp.", mtp), "model.layers",
                             std::string(prefix) + "layers");
      tiny.tensors = respell(tiny.tensors, "model.norm", std::string(prefix) + "norm");
      tiny.tensors =
          respell(tiny.tensors, "model.embed_tokens", std::string(prefix) + "embed_tokens");
      auto opened = open_tiny(tiny);
      ASSERT_TRUE(opened.ok()) << prefix << mtp << opened.error().message;
      expect_whole(opened.value());
    }
  }
}

TEST(Checkpoint, ShardsReadAsOneFile) {
  const TempFolder folder;
  const TinyModel tiny = tiny_model({.layout = Layout::kMlx, .moe = true, .quantised = true});
  write_model(folder.path(), tiny, 3);
  auto opened = open_checkpoint(folder.path(), {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened.value().files.size(), 3u);
  expect_whole(opened.value());
}

TEST(Checkpoint, PathsThatAreNoModelFolderAreRefused) {
  const TempFolder folder;
  const fs::path path = folder.path();
  expect_error(open_checkpoint(path / "none", {}), ErrorCode::kNotFound, "no such folder");
  expect_error(open_checkpoint(path, {}), ErrorCode::kNotFound, "model.safetensors");
  expect_error(open_checkpoint("/dev/null", {}), ErrorCode::kInvalidArgument, "model folder");
  for (const char* name : {"m.gguf", "m.safetensors", "config.json", "m.txt"}) {
    write_file(path / name, "x");
    const auto opened = open_checkpoint(path / name, {});
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message.find(name), std::string::npos);
  }
  expect_error(open_checkpoint(path / "m.gguf", {}), ErrorCode::kBadFile, "not a GGUF file");
  fs::remove(path / "config.json");
  write_file(path / "model.safetensors", "x");
  expect_error(open_checkpoint(path, {}), ErrorCode::kNotFound, "config.json");
  fs::create_directory(path / "config.json");
  expect_error(open_checkpoint(path, {}), ErrorCode::kBadFile, "a directory");
}

TEST(Checkpoint, BrokenConfigFilesAreNamed) {
  const TempFolder folder;
  write_model(folder.path(), tiny_model());
  write_file(folder.path() / "generation_config.json", R"({"top_p": 2})");
  expect_error(open_checkpoint(folder.path(), {}), ErrorCode::kBadFile,
               "generation_config.json: top_p");
  write_file(folder.path() / "generation_config.json", R"({"eos_token_id": [9, 3]})");
  EXPECT_EQ(open_checkpoint(folder.path(), {}).value().config.eos_ids,
            (std::vector<int32_t>{3, 7, 9}));
  write_file(folder.path() / "hf_quant_config.json", "{}");
  expect_error(open_checkpoint(folder.path(), {}), ErrorCode::kUnsupported, "ModelOpt");
  write_file(folder.path() / "config.json", "{\"a\":");
  expect_error(open_checkpoint(folder.path(), {}), ErrorCode::kBadFile, "config.json");
}

TEST(Checkpoint, ConvolutionsDecideTheLayoutAndMayNotDisagree) {
  TinyModel tiny = tiny_model();
  tiny.text()["num_hidden_layers"] = 3;
  tiny.text()["layer_types"] =
      json::array{"linear_attention", "full_attention", "linear_attention"};
  const std::string conv = ".linear_attn.conv1d.weight";
  tiny.tensors["model.layers.2" + conv] = random_floats(DType::kBF16, {96, 4, 1}, 1);
  expect_error(open_tiny(tiny), ErrorCode::kBadFile, "model.layers.2.linear_attn.conv1d.weight");
  tiny = tiny_model();
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{96, 4}, {96, 1, 3}, {4, 96, 1}, {384}}) {
    tiny.tensors["model.layers.0" + conv] = random_floats(DType::kBF16, shape, 1);
    expect_error(open_tiny(tiny), ErrorCode::kBadFile, format_shape(shape));
  }
  tiny.tensors.erase("model.layers.0" + conv);
  expect_error(open_tiny(tiny), ErrorCode::kBadFile, "conv1d");
}

TEST(Checkpoint, TheEmbeddingsRowsAreTheVocabulary) {
  TinyModel tiny = tiny_model();
  tiny.tensors["model.embed_tokens.weight"] = random_floats(DType::kBF16, {44, 64}, 1);
  auto opened = open_tiny(tiny);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened.value().config.vocab_size, 44);
  EXPECT_TRUE(mentions(opened.value().warnings, "vocab_size 40"));
  tiny.tensors["model.embed_tokens.weight"] = random_floats(DType::kBF16, {5, 64}, 1);
  opened = open_tiny(tiny);
  EXPECT_TRUE(mentions(opened.value().warnings, "stop token 7"));
}

TEST(Checkpoint, VisionAndRotaryTensorsAreListedAsUnneeded) {
  TinyModel tiny = tiny_model();
  const TestTensor tensor = random_floats(DType::kBF16, {4}, 1);
  for (const char* name : {"model.visual.patch_embed.proj.weight", "vision_tower.blocks.0.x",
                           "visual.merger.norm.bias", "model.vision_tower.y",
                           "model.layers.1.self_attn.rotary_emb.inv_freq"}) {
    tiny.tensors[name] = tensor;
  }
  auto opened = open_tiny(tiny);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_TRUE(opened.value().config.has_vision);
  expect_whole(opened.value());
  const auto unneeded = unused_tensors(opened.value()).unneeded;
  ASSERT_EQ(unneeded.size(), 2u);
  for (const UnneededTensors& group : unneeded) {
    EXPECT_EQ(group.tensors.size(), group.what == "vision tower" ? 4u : 1u);
    EXPECT_EQ(group.bytes, group.tensors.size() * 8);
  }
}

TEST(Checkpoint, UnknownTensorsAreAnErrorThatNamesThem) {
  for (const char* name : {"model.layers.0.per_layer_embedding.weight", "model.layers.2.x",
                           "something.else", "model.layers.0.mlp.up_proj.bias"}) {
    TinyModel tiny = tiny_model();
    tiny.tensors[name] = random_floats(DType::kBF16, {4}, 1);
    auto opened = open_tiny(tiny);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    read_everything(opened.value());
    const Status status = check_no_unknown_tensors(opened.value());
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find(name), std::string::npos) << status.error().message;
  }
}

TEST(Checkpoint, OneTensorUnderTwoSpellingsIsAnError) {
  TinyModel tiny = tiny_model();
  tiny.tensors["model.language_model.norm.weight"] = tiny.tensors["model.norm.weight"];
  expect_error(open_tiny(tiny), ErrorCode::kBadFile, "model.language_model.norm.weight");
}

TEST(Checkpoint, OtherMakersQuantisationIsRefusedByName) {
  for (const char* method : {"fp8", "modelopt", "compressed-tensors", "gptq", "awq"}) {
    TinyModel tiny = tiny_model();
    tiny.config["quantization_config"] = {{"quant_method", method}};
    expect_error(open_tiny(tiny), ErrorCode::kUnsupported, method);
    tiny.config.erase("quantization_config");
    tiny.text()["quantization_config"] = {{"quant_method", method}};
    expect_error(open_tiny(tiny), ErrorCode::kUnsupported, method);
  }
}

struct HeadCase {
  bool tied;
  bool disagree;
  bool stored;
  bool same;
  const char* module;
  bool warned;
};

TEST(Checkpoint, TheHeadIsChosenByWhatIsStored) {
  for (const HeadCase& item : {HeadCase{true, false, false, false, "model.embed_tokens", false},
                               HeadCase{false, false, false, false, "model.embed_tokens", true},
                               HeadCase{false, false, true, false, "lm_head", false},
                               HeadCase{false, false, true, true, "lm_head", false},
                               HeadCase{true, false, true, true, "model.embed_tokens", false},
                               HeadCase{true, false, true, false, "lm_head", true},
                               HeadCase{true, true, true, true, "lm_head", true},
                               HeadCase{false, true, true, false, "lm_head", true},
                               HeadCase{true, true, false, false, "model.embed_tokens", false}}) {
    TinyModel tiny = tiny_model();
    tiny.text()["tie_word_embeddings"] = item.tied;
    tiny.config["tie_word_embeddings"] = item.tied != item.disagree;
    if (item.stored) {
      tiny.tensors["lm_head.weight"] = item.same ? tiny.tensors["model.embed_tokens.weight"]
                                                 : random_floats(DType::kBF16, {40, 64}, 99);
    }
    auto opened = open_tiny(tiny);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Checkpoint& model = opened.value();
    EXPECT_EQ(model.head_module, item.module) << model.head_reason;
    EXPECT_EQ(model.warnings.empty(), !item.warned) << model.head_reason;
    expect_whole(model);
    const bool copy_listed = item.stored && model.head_module != std::string("lm_head");
    EXPECT_EQ(unused_tensors(model).unneeded.size(), copy_listed ? 1u : 0u);
  }
}

TEST(Checkpoint, LoadsOnlyWhatIsNeeded) {
  TinyModel tiny = tiny_model();
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tiny.tensors) bytes += tensor.bytes.size();
  tiny.tensors["model.visual.x"] = random_floats(DType::kF32, {1000}, 1);
  uint64_t last = 0;
  OpenOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, bytes);
    EXPECT_GE(done, last);
    last = done;
  };
  ASSERT_TRUE(open_tiny(tiny, options).ok());
  EXPECT_EQ(last, bytes);
}

}  // namespace
}  // namespace lockstep
