// Draft heads: every place where they lie, how their norms are read, and strangers.
#include <gtest/gtest.h>

#include "checkpoint/testing/opened.h"
#include "checkpoint/testing/read_everything.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// A model whose draft head lies beside it, as the test wants it.
class Sidecar : public ::testing::Test {
 protected:
  void SetUp() override { use({.layout = Layout::kMlx, .quantised = true}); }

  void use(const TinySpec& spec) {
    tiny_ = tiny_model(spec);
    head_ = tiny_.split_draft_head();
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  TestTensors bare() const { return respell(head_, "mtp.", ""); }
  Result<Checkpoint> open(const OpenOptions& options = {}) const {
    write_model(folder_.path(), tiny_);
    return open_checkpoint(folder_.path(), options);
  }
  // Writes an mlx-vlm drafter's folder.
  void write_folder(const fs::path& where, const TestTensors& tensors) const {
    json::object config = tiny_.config;
    config["model_type"] = "qwen3_5_mtp";
    write_file(where / "config.json", dump_json(config));
    write_file(where / "model.safetensors", safetensors_file(tensors));
  }
  void expect_sidecar(const Result<Checkpoint>& opened, const std::string& name) const {
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened.value().mtp.origin, MtpOrigin::kSidecar);
    EXPECT_EQ(opened.value().mtp.path, path(name));
    EXPECT_EQ(opened.value().config.mtp_layers, 1);
  }
  static void expect_whole(Result<Checkpoint>& opened) {
    read_everything(opened.value());
    EXPECT_TRUE(check_no_unknown_tensors(opened.value()).ok());
  }

  TempFolder folder_;
  TinyModel tiny_;
  TestTensors head_;
};

TEST_F(Sidecar, WithoutOneDraftingIsOffAndSaysWhy) {
  const auto opened = open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened.value().mtp.origin, MtpOrigin::kNone);
  EXPECT_EQ(opened.value().config.mtp_layers, 0);
  EXPECT_NE(opened.value().mtp.reason.find("announces"), std::string::npos);
}

TEST_F(Sidecar, IsFoundInTheFolderMtpWithBareNames) {
  write_folder(path("mtp"), bare());
  auto opened = open();
  expect_sidecar(opened, "mtp");
  EXPECT_FALSE(opened.value().mtp_norms.add_one) << opened.value().mtp_norms.reason;
  expect_whole(opened);
}

TEST_F(Sidecar, IsFoundInEveryKnownFile) {
  for (const char* name : {"mtp.safetensors", "mtp-4bit.safetensors", "mtp-00001.safetensors",
                           "mtp/weights.safetensors"}) {
    const fs::path file = path(name);
    write_file(file, safetensors_file(head_));
    auto opened = open();
    expect_sidecar(opened, file.parent_path() == folder_.path() ? name : "mtp");
    expect_whole(opened);
    fs::remove(file);
  }
}

TEST_F(Sidecar, IsFoundWhereTheConfigSays) {
  write_file(path("extra/head.safetensors"), safetensors_file(head_));
  tiny_.config["mlx_lm_extra_tensors"] = {{"mtp_file", "extra/head.safetensors"}};
  expect_sidecar(open(), "extra/head.safetensors");
  tiny_.config.erase("mlx_lm_extra_tensors");
  for (const char* key : {"mtp_sidecar_file", "mtp_file"}) {
    write_file(path("mtplx_runtime.json"),
               std::string("{\"") + key + "\": \"extra/head.safetensors\"}");
    expect_sidecar(open(), "extra/head.safetensors");
  }
  for (const char* name : {"../x.safetensors", "/etc/x", "a/../../x", ""}) {
    write_file(path("mtplx_runtime.json"), std::string("{\"mtp_file\": \"") + name + "\"}");
    expect_error(open(), ErrorCode::kBadFile, "mtp_file");
  }
  write_file(path("mtplx_runtime.json"), R"({"mtp_file": "gone.safetensors"})");
  const auto opened = open();
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(mentions(opened.value().warnings, "gone.safetensors"));
}

TEST_F(Sidecar, TheOneNamedByHandComesFirstAndTheIncludedOneIsListed) {
  tiny_ = tiny_model({.layout = Layout::kMlx, .quantised = true});
  const TempFolder elsewhere;
  write_folder(elsewhere.path(), bare());
  OpenOptions options;
  for (const fs::path& named : {elsewhere.path(), elsewhere.path() / "model.safetensors"}) {
    options.mtp_path = named;
    auto opened = open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened.value().mtp.path, named);
    expect_whole(opened);
    const auto unneeded = unused_tensors(opened.value()).unneeded;
    ASSERT_EQ(unneeded.size(), 1u);
    EXPECT_EQ(unneeded[0].what, "draft head (replaced by the one named)");
    EXPECT_EQ(unneeded[0].tensors.size(), head_.size());
  }
  options.use_mtp = false;
  expect_error(open(options), ErrorCode::kInvalidArgument, "turned off");
}

TEST_F(Sidecar, MayBeAWholeModelOfTheSameShape) {
  const TempFolder elsewhere;
  write_model(elsewhere.path(), tiny_model(), 2);
  OpenOptions options;
  options.mtp_path = elsewhere.path();
  auto opened = open(options);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_TRUE(opened.value().mtp_norms.add_one) << opened.value().mtp_norms.reason;
  EXPECT_FALSE(opened.value().norms.add_one);
  expect_whole(opened);
  EXPECT_TRUE(unused_tensors(opened.value()).unneeded.empty());
}

TEST_F(Sidecar, PathsThatHoldNoHeadAreRefused) {
  OpenOptions options;
  for (const auto& [name, named] :
       std::map<std::string, std::string>{{"none", "no such draft head"},
                                          {"empty", "empty"},
                                          {"head.gguf", "ends within its header"},
                                          {"junk.safetensors", "header"},
                                          {"folder", "model.safetensors"}}) {
    write_file(path("empty"), "");
    write_file(path("head.gguf"), "GGUF");
    write_file(path("junk.safetensors"), std::string(64, 'x'));
    fs::create_directories(path("folder"));
    options.mtp_path = path(name);
    const auto opened = open(options);
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_NE(opened.error().message.find(named), std::string::npos) << opened.error().message;
    EXPECT_NE(opened.error().message.find("--mtp"), std::string::npos) << opened.error().message;
  }
}

TEST_F(Sidecar, AConfigOfAnotherModelIsRefusedByField) {
  for (const char* field : {"hidden_size", "vocab_size", "num_attention_heads", "head_dim",
                            "num_key_value_heads", "intermediate_size"}) {
    const TinyModel good = tiny_;
    tiny_.text()[field] = 4096;
    write_folder(path("mtp"), bare());
    tiny_ = good;
    expect_error(open(), ErrorCode::kBadFile, std::string("text_config.") + field);
    expect_error(open(), ErrorCode::kBadFile, "4096");
  }
  const TinyModel good = tiny_;
  tiny_.text()["num_experts"] = 8;
  write_folder(path("mtp"), bare());
  tiny_ = good;
  expect_error(open(), ErrorCode::kBadFile, "num_experts");
  write_file(path("mtp/config.json"), R"({"model_type": "llama"})");
  expect_error(open(), ErrorCode::kUnsupported, "llama");
}

TEST_F(Sidecar, AnotherSetOfTensorsIsRefusedByTensor) {
  for (const auto& [name, tensor] : head_) {
    TestTensors less = head_;
    less.erase(name);
    write_file(path("mtp.safetensors"), safetensors_file(less));
    const auto opened = open();
    ASSERT_FALSE(opened.ok()) << name;
    const std::string module = name.substr(0, name.rfind('.'));
    EXPECT_NE(opened.error().message.find(module), std::string::npos) << opened.error().message;
  }
  for (const char* name : {"mtp.layers.1.input_layernorm.weight", "mtp.embed_tokens.weight",
                           "mtp.fc.bias", "unknown.weight"}) {
    TestTensors more = head_;
    more[name] = random_floats(DType::kBF16, {64}, 1);
    write_file(path("mtp.safetensors"), safetensors_file(more));
    const auto opened = open();
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_NE(opened.error().message.find(name), std::string::npos) << opened.error().message;
  }
}

TEST_F(Sidecar, OtherShapesAndFormatsAreRefusedByTensor) {
  for (const auto& [name, tensor] : head_) {
    TestTensors other = head_;
    TestTensor& changed = other[name];
    changed.shape.insert(changed.shape.begin(), 1);
    write_file(path("mtp.safetensors"), safetensors_file(other));
    expect_error(open(), ErrorCode::kBadFile, name);
  }
  TestTensors packed = head_;
  packed["mtp.fc.weight_packed"] = packed["mtp.fc.weight"];
  write_file(path("mtp.safetensors"), safetensors_file(packed));
  expect_error(open(), ErrorCode::kUnsupported, "compressed-tensors");
}

TEST_F(Sidecar, ItsOwnConfigJudgesItsBitsAndTheModelsDoesNot) {
  tiny_.config["quantization"] = {{"bits", 8}, {"group_size", 64}};
  write_file(path("mtp.safetensors"), safetensors_file(head_));
  EXPECT_TRUE(open().ok());  // 4 bits in groups of 32
  fs::remove(path("mtp.safetensors"));
  write_folder(path("mtp"), bare());
  expect_error(open(), ErrorCode::kBadFile, "8 bits");
  tiny_.config["quantization"] = {{"bits", 4}, {"group_size", 32}, {"fc", {{"bits", 5}}}};
  write_folder(path("mtp"), bare());
  expect_error(open(), ErrorCode::kBadFile, "mtp/model.safetensors: tensor fc.weight");
}

TEST_F(Sidecar, NormsFollowTheirMeanOrWhatIsSaid) {
  const struct {
    float mean;
    const char* said;
    bool add_one;
    bool warned;
  } cases[] = {{-0.44f, "", true, false},
               {0.56f, "", false, false},
               {-0.02f, "", true, false},
               {0.98f, "", false, false},
               {0.2f, "", true, true},
               {0.3f, "", false, true},
               {0.56f, "delta", true, false},
               {0.56f, "delta_plus_one", true, false},
               {0.56f, "mlx_delta", true, false},
               {0.56f, "strange", false, true},
               {-0.44f, "strange", true, true}};
  const char* const keys[] = {"mtplx_mtp_norm_encoding", "mtp_norm_encoding"};
  for (const auto& item : cases) {
    head_["mtp.pre_fc_norm_embedding.weight"] = random_floats(DType::kBF16, {64}, 5, item.mean);
    write_file(path("mtp.safetensors"), safetensors_file(head_));
    for (const char* key : keys) {
      tiny_.config.erase(key);
      if (item.said[0] != '\0') tiny_.config[key] = item.said;
      const auto opened = open();
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      EXPECT_EQ(opened.value().mtp_norms.add_one, item.add_one)
          << item.mean << item.said << ": " << opened.value().mtp_norms.reason;
      EXPECT_EQ(!opened.value().warnings.empty(), item.warned) << item.mean << item.said;
      tiny_.config.erase(key);
    }
  }
  tiny_.config["mtplx_mtp_quantization"] = {{"norm_encoding", "delta"}};
  EXPECT_TRUE(open().value().mtp_norms.add_one);
}

TEST_F(Sidecar, OtherConfigsOfSeveralHeadsAreWarnedAbout) {
  write_folder(path("mtp"), bare());
  write_file(path("mtp.safetensors"), safetensors_file(head_));
  const auto opened = open();
  expect_sidecar(opened, "mtp");
  EXPECT_TRUE(mentions(opened.value().warnings, "mtp.safetensors"));
}

TEST(IncludedDraftHead, MayBeShiftedApartFromTheTrunk) {
  TinyModel tiny = tiny_model({.layout = Layout::kMlx});
  TinyModel raw = tiny_model({.layout = Layout::kHuggingFace});
  tiny.split_draft_head();
  tiny.tensors.merge(raw.split_draft_head());
  const auto opened = open_tiny(tiny);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_FALSE(opened.value().norms.add_one);
  EXPECT_TRUE(opened.value().mtp_norms.add_one) << opened.value().mtp_norms.reason;
}

TEST(IncludedDraftHead, IsUsedEvenIfTheConfigForgotIt) {
  TinyModel tiny = tiny_model();
  tiny.text().erase("mtp_num_hidden_layers");
  EXPECT_EQ(open_tiny(tiny).value().config.mtp_layers, 1);
}

TEST(IncludedDraftHead, IncompleteOnesAreRefusedButCanBeTurnedOff) {
  TinyModel tiny = tiny_model();
  tiny.tensors.erase("mtp.fc.weight");
  expect_error(open_tiny(tiny), ErrorCode::kBadFile, "mtp.fc.weight");
  OpenOptions off;
  off.use_mtp = false;
  EXPECT_TRUE(open_tiny(tiny, off).ok());
}

TEST(IncludedDraftHead, MoreLayersOrAnOwnEmbeddingAreRefusedByName) {
  TinyModel tiny = tiny_model();
  tiny.text()["mtp_num_hidden_layers"] = 2;
  expect_error(open_tiny(tiny), ErrorCode::kUnsupported, "2 layers");
  tiny.text()["mtp_num_hidden_layers"] = 1;
  tiny.text()["mtp_use_dedicated_embeddings"] = true;
  expect_error(open_tiny(tiny), ErrorCode::kUnsupported, "embedding of its own");
}

}  // namespace
}  // namespace lockstep
