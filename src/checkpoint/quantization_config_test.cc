#include "checkpoint/quantization_config.h"

#include <gtest/gtest.h>

#include "checkpoint/testing/opened.h"

namespace lockstep {
namespace {

Result<QuantizationConfig> read(const char* text, NameScope scope = NameScope::kModel) {
  const json::value root = parse_json(text, "test").value();
  return read_quantization_config(root, "config.json", scope);
}

TEST(QuantizationConfig, AbsentMeansEmpty) {
  for (const char* text : {"{}", R"({"quantization": null})", "[]", R"({"quantization": {}})"}) {
    EXPECT_TRUE(read(text).value().empty()) << text;
  }
}

TEST(QuantizationConfig, ReadsTheGlobalSchemeFromEveryPlace) {
  for (const char* text : {R"({"quantization": {"bits": 4, "group_size": 64}})",
                           R"({"quantization_config": {"bits": 4, "group_size": 64}})",
                           R"({"text_config": {"quantization": {"bits": 4, "group_size": 64}}})",
                           R"({"quantization": {"bits": 4, "group_size": 64},
                               "quantization_config": {"quant_method": "ignored copy"}})"}) {
    const auto config = read(text);
    ASSERT_TRUE(config.ok()) << config.error().message;
    ASSERT_TRUE(config.value().global);
    EXPECT_EQ(config.value().global->bits, 4);
    EXPECT_EQ(config.value().global->group, 64);
  }
}

TEST(QuantizationConfig, OverridesGetCanonicalNames) {
  const QuantizationConfig config = read(R"({"quantization": {"bits": 4, "group_size": 64,
      "language_model.model.layers.3.mlp.gate": {"bits": 8, "group_size": 32},
      "model.language_model.layers.4.mlp.gate": false,
      "language_model.lm_head": true,
      "language_model.mtp.fc": {"bits": 6}}})")
                                        .value();
  ASSERT_EQ(config.overrides.size(), 4u);
  EXPECT_EQ(config.overrides.at("model.layers.3.mlp.gate")->bits, 8);
  EXPECT_EQ(config.overrides.at("model.layers.3.mlp.gate")->group, 32);
  EXPECT_FALSE(config.overrides.at("model.layers.4.mlp.gate"));
  EXPECT_EQ(config.overrides.at("lm_head")->bits, 4);
  EXPECT_EQ(config.overrides.at("mtp.fc")->bits, 6);
  EXPECT_EQ(config.overrides.at("mtp.fc")->group, 0);
}

TEST(QuantizationConfig, ADraftHeadsBareNamesAreItsOwn) {
  const QuantizationConfig config =
      read(R"({"quantization": {"bits": 4, "fc": {"bits": 8}, "layers.0.mlp.gate": false}})",
           NameScope::kDraftHead)
          .value();
  EXPECT_TRUE(config.overrides.contains("mtp.fc"));
  EXPECT_TRUE(config.overrides.contains("mtp.layers.0.mlp.gate"));
}

TEST(QuantizationConfig, RefusesOtherSchemesAndWrongFields) {
  for (const char* mode : {"mxfp4", "mxfp8", "nvfp4", "anything"}) {
    const std::string text = std::string(R"({"quantization": {"mode": ")") + mode + "\"}}";
    expect_error(read(text.c_str()), ErrorCode::kUnsupported, mode);
  }
  expect_error(read(R"({"quantization_config": {"quant_method": "fp8"}})"), ErrorCode::kUnsupported,
               "quantization_config.quant_method");
  expect_error(read(R"({"quantization_config": {"quant_algo": "NVFP4"}})"), ErrorCode::kUnsupported,
               "NVFP4");
  for (const char* text :
       {R"({"quantization": 4})", R"({"quantization": {"bits": "4"}})",
        R"({"quantization": {"bits": 4.0}})", R"({"quantization": {"bits": 64}})",
        R"({"quantization": {"group_size": -64}})", R"({"quantization": {"mode": 3}})",
        R"({"quantization": {"a.b": {"bits": null, "group_size": []}}})"}) {
    expect_error(read(text), ErrorCode::kBadFile, "config.json: quantization");
  }
}

}  // namespace
}  // namespace lockstep
