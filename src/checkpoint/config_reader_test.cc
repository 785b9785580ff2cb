// Every field of config.json, edited in many ways: what is wrong is refused by the field's name.
#include "checkpoint/config_reader.h"

#include <gtest/gtest.h>

#include <functional>

#include "checkpoint/testing/tiny_model.h"

namespace lockstep {
namespace {

json::value parsed(const char* text) { return parse_json(text, "test").value(); }

json::object dense_config() { return tiny_model().config; }

json::object moe_config() { return tiny_model({.moe = true}).config; }

json::object& text_of(json::object& config) { return config["text_config"].as_object(); }

Result<ModelConfig> read(const json::object& config) {
  return read_model_config(json::value(config), "config.json");
}

void expect_refused(const json::object& config, const std::string& field, const std::string& why) {
  const auto result = read(config);
  ASSERT_FALSE(result.ok()) << field << " " << why;
  EXPECT_NE(result.error().message.find(field), std::string::npos)
      << field << " " << why << ": " << result.error().message;
  EXPECT_TRUE(result.error().code == ErrorCode::kBadFile ||
              result.error().code == ErrorCode::kUnsupported);
  EXPECT_TRUE(result.error().message.starts_with("config.json: ")) << result.error().message;
}

const std::vector<std::string> kSharedSizes = {"vocab_size",
                                               "hidden_size",
                                               "num_hidden_layers",
                                               "num_attention_heads",
                                               "num_key_value_heads",
                                               "head_dim",
                                               "linear_num_key_heads",
                                               "linear_num_value_heads",
                                               "linear_key_head_dim",
                                               "linear_value_head_dim",
                                               "linear_conv_kernel_dim"};
const std::vector<std::string> kMoeSizes = {"num_experts", "num_experts_per_tok",
                                            "moe_intermediate_size",
                                            "shared_expert_intermediate_size"};

// Not a positive whole number of a sane size.
const char* const kBadSizes[] = {"null",
                                 "0",
                                 "-1",
                                 "\"64\"",
                                 "64.0",
                                 "64.5",
                                 "1e3",
                                 "true",
                                 "[64]",
                                 "{}",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "18446744073709551616",
                                 "1e300"};

void expect_sizes_checked(const json::object& good, const std::vector<std::string>& fields) {
  for (const std::string& field : fields) {
    json::object config = good;
    text_of(config).erase(field);
    expect_refused(config, "text_config." + field, "missing");
    for (const char* bad : kBadSizes) {
      text_of(config)[field] = parsed(bad);
      expect_refused(config, "text_config." + field, bad);
    }
  }
}

TEST(ConfigReader, SizesAreRequiredWholeAndSane) {
  std::vector<std::string> dense = kSharedSizes;
  dense.push_back("intermediate_size");
  expect_sizes_checked(dense_config(), dense);
  expect_sizes_checked(moe_config(), kMoeSizes);
}

TEST(ConfigReader, ReadsWhatTheFileSays) {
  const auto result = read(moe_config());
  ASSERT_TRUE(result.ok()) << result.error().message;
  const ModelConfig& config = result.value();
  EXPECT_EQ(config.model_type, "qwen3_5_moe");
  EXPECT_EQ(config.ffn, Ffn::kMoe);
  EXPECT_EQ(config.vocab_size, 40);
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.layers, (std::vector<Mixer>{Mixer::kGatedDelta, Mixer::kFullAttention}));
  EXPECT_EQ(config.attention.heads, 2);
  EXPECT_EQ(config.attention.kv_heads, 1);
  EXPECT_EQ(config.attention.head_dim, 32);
  EXPECT_EQ(config.attention.rotary_dim, 8);
  EXPECT_EQ(config.delta.conv_channels(), 96);
  EXPECT_EQ(config.moe.experts, 3);
  EXPECT_EQ(config.moe.experts_per_token, 2);
  EXPECT_EQ(config.rope.theta, 1e7);
  EXPECT_EQ(config.rope.mrope_section, (std::array<int64_t, 3>{2, 1, 1}));
  EXPECT_FALSE(config.rope.yarn);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.max_positions, 512);
  EXPECT_EQ(config.mtp_layers, 1);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.eos_ids, (std::vector<int32_t>{3, 7}));
  EXPECT_TRUE(config.warnings.empty());
}

TEST(ConfigReader, FlatAndNestedFilesReadTheSame) {
  json::object flat = tiny_model().text();
  for (const char* type : {"qwen3_5_text", "qwen3_5"}) {
    flat["model_type"] = type;
    const auto result = read(flat);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result.value().hidden_size, 64);
    EXPECT_EQ(result.value().eos_ids, std::vector<int32_t>{3});
  }
  flat["hidden_size"] = "64";
  expect_refused(flat, "config.json: hidden_size", "flat");
}

struct Edit {
  const char* field;  // of text_config, or with a leading '/' of the top level
  const char* value;  // JSON; empty: the field is taken out
  const char* named;  // what the refusal names; empty: the edit is accepted
};

void apply(const Edit& edit, json::object& config) {
  const bool top = edit.field[0] == '/';
  json::object& target = top ? config : text_of(config);
  const char* key = top ? edit.field + 1 : edit.field;
  if (edit.value[0] == '\0') {
    target.erase(key);
  } else {
    target[key] = parsed(edit.value);
  }
}

void expect_edits(const json::object& good, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    json::object config = good;
    apply(edit, config);
    if (edit.named[0] != '\0') {
      expect_refused(config, edit.named, edit.value);
      continue;
    }
    const auto result = read(config);
    EXPECT_TRUE(result.ok()) << edit.field << " " << edit.value << ": " << result.error().message;
  }
}

TEST(ConfigReader, RefusesOtherModelTypesByName) {
  expect_edits(dense_config(), {{"/model_type", "\"llama\"", "\"llama\""},
                                {"/model_type", "\"qwen4_exp\"", "Qwen3.8-Flash-Next"},
                                {"/model_type", "\"qwen3_next\"", "ancestor"},
                                {"/model_type", "\"qwen3_5_mtp\"", "--mtp"},
                                {"/model_type", "7", "model_type"},
                                {"/model_type", "\"qwen3_5_moe\"", "text_config.model_type"},
                                {"model_type", "\"qwen3\"", "text_config.model_type"},
                                {"model_type", "", ""},
                                {"/model_type", "", ""},
                                {"/text_config", "[]", "text_config"},
                                {"num_experts", "8", "num_experts"},
                                {"num_experts", "0", ""}});
  json::object neither = dense_config();
  neither.erase("model_type");
  text_of(neither).erase("model_type");
  expect_refused(neither, "model_type: found nothing", "absent at both levels");
  EXPECT_FALSE(read_model_config(json::value(json::array()), "config.json").ok());
}

TEST(ConfigReader, CrossChecksSizes) {
  expect_edits(dense_config(),
               {{"num_key_value_heads", "3", "num_key_value_heads"},
                {"num_key_value_heads", "2", ""},
                {"linear_num_key_heads", "4", "linear_num_value_heads"},
                {"linear_num_value_heads", "16", ""},
                {"linear_conv_kernel_dim", "3", "linear_conv_kernel_dim"},
                {"layer_types", "[\"linear_attention\"]", "layer_types"},
                {"layer_types", "[\"linear_attention\",\"sliding_attention\"]", "layer_types[1]"},
                {"layer_types", "[\"linear_attention\",3]", "layer_types[1]"},
                {"layer_types", "\"linear_attention\"", "layer_types"},
                {"layer_types", "[\"full_attention\",\"linear_attention\"]", ""},
                {"layer_types", "", ""},
                {"num_hidden_layers", "3", "layer_types"}});
  expect_edits(moe_config(), {{"num_experts_per_tok", "4", "num_experts_per_tok"},
                              {"num_experts_per_tok", "3", ""},
                              {"num_experts", "1", "num_experts_per_tok"}});
}

TEST(ConfigReader, BuildsLayersFromTheIntervalOnlyWithoutAList) {
  json::object config = dense_config();
  text_of(config).erase("layer_types");
  text_of(config)["num_hidden_layers"] = 5;
  auto result = read(config);
  ASSERT_TRUE(result.ok());
  const Mixer d = Mixer::kGatedDelta;
  const Mixer f = Mixer::kFullAttention;
  EXPECT_EQ(result.value().layers, (std::vector<Mixer>{d, f, d, f, d}));
  text_of(config)["full_attention_interval"] = 0;
  expect_refused(config, "full_attention_interval", "0");
  text_of(config).erase("full_attention_interval");
  expect_refused(config, "layer_types", "neither list nor interval");
}

TEST(ConfigReader, RefusesWhatTheEngineDoesNotCompute) {
  expect_edits(dense_config(), {{"attention_bias", "true", "attention_bias"},
                                {"attention_bias", "0", "attention_bias"},
                                {"attn_output_gate", "false", "attn_output_gate"},
                                {"hidden_act", "\"gelu\"", "hidden_act"},
                                {"output_gate_type", "\"swish\"", ""},
                                {"output_gate_type", "\"silu\"", ""},
                                {"output_gate_type", "\"sigmoid\"", ""},
                                {"output_gate_type", "\"tanh\"", "output_gate_type"},
                                {"output_gate_type", "null", ""},
                                {"rms_norm_eps", "0", "rms_norm_eps"},
                                {"rms_norm_eps", "-1e-6", "rms_norm_eps"},
                                {"rms_norm_eps", "\"1e-6\"", "rms_norm_eps"},
                                {"rms_norm_eps", "1", "rms_norm_eps"},
                                {"rms_norm_eps", "", ""},
                                {"max_position_embeddings", "0", "max_position_embeddings"},
                                {"max_position_embeddings", "1e5", "max_position_embeddings"},
                                {"max_position_embeddings", "", ""},
                                {"mtp_num_hidden_layers", "-1", "mtp_num_hidden_layers"},
                                {"mtp_num_hidden_layers", "true", "mtp_num_hidden_layers"},
                                {"mtp_num_hidden_layers", "", ""},
                                {"mtp_use_dedicated_embeddings", "1", "mtp_use_dedicated"},
                                {"use_cache", "false", ""},
                                {"mlp_only_layers", "[]", ""},
                                {"/vision_config", "3", "vision_config"},
                                {"/vision_config", "{}", ""},
                                {"mamba_ssm_dtype", "\"bfloat16\"", ""}});
  expect_edits(moe_config(), {{"norm_topk_prob", "false", "norm_topk_prob"},
                              {"norm_topk_prob", "true", ""},
                              {"decoder_sparse_step", "2", "decoder_sparse_step"},
                              {"decoder_sparse_step", "1", ""},
                              {"mlp_only_layers", "[1]", "mlp_only_layers"},
                              {"mlp_only_layers", "[]", ""}});
}

TEST(ConfigReader, StopTokensAreOneOrMoreIds) {
  expect_edits(dense_config(), {{"eos_token_id", "5", ""},
                                {"eos_token_id", "[5, 6]", ""},
                                {"eos_token_id", "null", ""},
                                {"eos_token_id", "", ""},
                                {"eos_token_id", "-1", "eos_token_id"},
                                {"eos_token_id", "\"5\"", "eos_token_id"},
                                {"eos_token_id", "[5, 6.0]", "eos_token_id"},
                                {"eos_token_id", "[5, [6]]", "eos_token_id"},
                                {"eos_token_id", "2147483648", "eos_token_id"},
                                {"/eos_token_id", "[5, null]", "eos_token_id"}});
}

TEST(ConfigReader, TextLevelDecidesAboutTiesAndDisagreementIsKept) {
  struct Case {
    const char* top;
    const char* text;
    bool tied;
    bool disagree;
  };
  for (const Case& item : {Case{"", "", false, false}, Case{"true", "", true, false},
                           Case{"", "true", true, false}, Case{"true", "false", false, true},
                           Case{"false", "true", true, true}, Case{"true", "true", true, false}}) {
    json::object config = dense_config();
    apply({"/tie_word_embeddings", item.top, ""}, config);
    apply({"tie_word_embeddings", item.text, ""}, config);
    const auto result = read(config);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result.value().tie_word_embeddings, item.tied) << item.top << "|" << item.text;
    EXPECT_EQ(result.value().tie_levels_disagree, item.disagree) << item.top << "|" << item.text;
  }
  json::object config = dense_config();
  config["tie_word_embeddings"] = 1;
  expect_refused(config, "tie_word_embeddings", "1");
}

// Rope: `edits` are merged into rope_parameters; "" takes the key out.
json::object with_rope(const std::vector<std::pair<const char*, const char*>>& edits) {
  json::object config = dense_config();
  json::object& rope = text_of(config)["rope_parameters"].as_object();
  for (const auto& [key, value] : edits) {
    if (*value == '\0') {
      rope.erase(key);
    } else {
      rope[key] = parsed(value);
    }
  }
  return config;
}

TEST(ConfigReader, RopeAcceptsEverySpellingOfTheSameThing) {
  std::vector<json::object> same = {
      with_rope({}),
      with_rope({{"rope_type", ""}, {"type", "\"mrope\""}}),
      with_rope({{"rope_type", ""}}),
      with_rope({{"mrope_interleaved", ""}}),
      with_rope({{"type", "\"default\""}}),
      with_rope({{"rope_theta", "10000000.0"}}),
  };
  json::object outside = with_rope({{"rope_theta", ""}, {"partial_rotary_factor", ""}});
  text_of(outside)["rope_theta"] = 10000000;
  text_of(outside)["partial_rotary_factor"] = 0.25;
  same.push_back(outside);
  json::object renamed = dense_config();
  text_of(renamed)["rope_scaling"] = text_of(renamed)["rope_parameters"];
  text_of(renamed)["rope_parameters"] = nullptr;
  same.push_back(renamed);
  for (const json::object& config : same) {
    const auto result = read(config);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result.value().rope.theta, 1e7);
    EXPECT_EQ(result.value().attention.rotary_dim, 8);
    EXPECT_EQ(result.value().rope.mrope_section, (std::array<int64_t, 3>{2, 1, 1}));
    EXPECT_TRUE(result.value().warnings.empty());
  }
}

TEST(ConfigReader, RopeObjectWinsOverTheTextLevelWithAWarning) {
  json::object config = dense_config();
  text_of(config)["rope_theta"] = 100000;
  const auto result = read(config);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().rope.theta, 1e7);
  ASSERT_EQ(result.value().warnings.size(), 1u);
  EXPECT_NE(result.value().warnings[0].find("rope_theta"), std::string::npos);
}

TEST(ConfigReader, RopeNullWithThetaBesideItUsesTheFamilysSections) {
  json::object config = dense_config();
  text_of(config)["rope_parameters"] = nullptr;
  text_of(config)["rope_theta"] = 1e7;
  expect_refused(config, "mrope_section", "11+11+10 does not fit 8 rotary dimensions");
  text_of(config)["head_dim"] = 256;
  const auto result = read(config);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().attention.rotary_dim, 64);
  EXPECT_EQ(result.value().warnings.size(), 1u);  // partial_rotary_factor was assumed
}

TEST(ConfigReader, RopeFaultsAreNamed) {
  const struct {
    const char* key;
    const char* value;
  } faults[] = {
      {"rope_theta", ""},
      {"rope_theta", "1"},
      {"rope_theta", "-10000"},
      {"rope_theta", "\"10000000\""},
      {"rope_type", "\"linear\""},
      {"rope_type", "\"longrope\""},
      {"rope_type", "3"},
      {"partial_rotary_factor", "0"},
      {"partial_rotary_factor", "1.5"},
      {"partial_rotary_factor", "0.03"},
      {"partial_rotary_factor", "true"},
      {"mrope_section", "[2, 1]"},
      {"mrope_section", "[2, 1, 1, 0]"},
      {"mrope_section", "[2, 1, 2]"},
      {"mrope_section", "[2, 1, -1]"},
      {"mrope_section", "[2, 1, 1.0]"},
      {"mrope_section", "4"},
      {"mrope_section", "[4]"},
      {"mrope_interleaved", "false"},
      {"mrope_interleaved", "\"true\""},
  };
  for (const auto& fault : faults) {
    expect_refused(with_rope({{fault.key, fault.value}}),
                   std::string("text_config.rope_parameters.") + fault.key, fault.value);
  }
  json::object config = dense_config();
  text_of(config)["rope_parameters"] = "default";
  expect_refused(config, "text_config.rope_parameters", "text");
}

TEST(ConfigReader, YarnIsReadAndItsFaultsAreNamed) {
  const auto with_yarn = [](const char* key, const char* value) {
    return with_rope({{"rope_type", "\"yarn\""},
                      {"factor", "4.0"},
                      {"original_max_position_embeddings", "262144"},
                      {key, value}});
  };
  const auto result = read(with_yarn("beta_fast", "32"));
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_TRUE(result.value().rope.yarn);
  EXPECT_EQ(result.value().rope.yarn->factor, 4.0);
  EXPECT_EQ(result.value().rope.yarn->original_max_positions, 262144);
  EXPECT_EQ(result.value().rope.yarn->beta_slow, 1.0);
  EXPECT_EQ(result.value().max_positions, 1048576);
  const struct {
    const char* key;
    const char* value;
  } faults[] = {{"factor", ""},
                {"factor", "0.5"},
                {"factor", "\"4\""},
                {"original_max_position_embeddings", ""},
                {"original_max_position_embeddings", "262144.0"},
                {"beta_fast", "0.5"},
                {"beta_slow", "-1"},
                {"attention_factor", "1.0"},
                {"truncate", "false"}};
  for (const auto& fault : faults) {
    expect_refused(with_yarn(fault.key, fault.value), std::string("rope_parameters.") + fault.key,
                   fault.value);
  }
}

TEST(ConfigReader, LargestSizesDoNotOverflowTheirProducts) {
  json::object config = moe_config();
  for (const char* field : {"num_experts", "moe_intermediate_size", "hidden_size"}) {
    json::object& text = text_of(config);
    int64_t largest = 1;
    for (int64_t size = 1; size < (int64_t{1} << 62); size *= 2) {
      text[field] = size;
      if (!read(config).ok()) continue;
      largest = size;
    }
    text[field] = largest;
  }
  const auto result = read(config);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const ModelConfig& found = result.value();
  const __int128 bytes = static_cast<__int128>(found.moe.experts) * 2 * found.moe.intermediate *
                         found.hidden_size * 8 * 1024;
  EXPECT_LT(bytes, static_cast<__int128>(INT64_MAX));
  EXPECT_GE(found.hidden_size, 8192 * 2);
}

}  // namespace
}  // namespace lockstep
