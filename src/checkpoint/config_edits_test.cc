// Two released configurations, every field of them edited in every way: each edit is refused by the
// field's name, or read as a table says.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config_reader.h"
#include "checkpoint/config_writer.h"

namespace lockstep {
namespace {

constexpr const char* kDense08B = R"({
  "architectures": ["Qwen3_5ForConditionalGeneration"],
  "model_type": "qwen3_5",
  "image_token_id": 248056,
  "language_model_only": false,
  "text_config": {
    "attention_bias": false,
    "attention_dropout": 0.0,
    "attn_output_gate": true,
    "dtype": "bfloat16",
    "eos_token_id": 248044,
    "full_attention_interval": 4,
    "head_dim": 256,
    "hidden_act": "silu",
    "hidden_size": 1024,
    "initializer_range": 0.02,
    "intermediate_size": 3584,
    "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 16,
    "linear_value_head_dim": 128,
    "mamba_ssm_dtype": "float32",
    "max_position_embeddings": 262144,
    "mlp_only_layers": [],
    "model_type": "qwen3_5_text",
    "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": false,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-06,
    "rope_parameters": {
      "mrope_interleaved": true,
      "mrope_section": [11, 11, 10],
      "partial_rotary_factor": 0.25,
      "rope_theta": 10000000,
      "rope_type": "default"
    },
    "tie_word_embeddings": true,
    "use_cache": true,
    "vocab_size": 248320
  },
  "tie_word_embeddings": true,
  "transformers_version": "4.57.0",
  "vision_config": {"depth": 12, "model_type": "qwen3_5"}
})";

constexpr const char* kMoe35B = R"({
  "architectures": ["Qwen3_5MoeForConditionalGeneration"],
  "model_type": "qwen3_5_moe",
  "text_config": {
    "attn_output_gate": true,
    "eos_token_id": 248044,
    "full_attention_interval": 4,
    "head_dim": 256,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_value_head_dim": 128,
    "max_position_embeddings": 262144,
    "model_type": "qwen3_5_moe_text",
    "moe_intermediate_size": 512,
    "mtp_num_hidden_layers": 1,
    "num_attention_heads": 16,
    "num_experts": 256,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 40,
    "num_key_value_heads": 2,
    "output_gate_type": "swish",
    "output_router_logits": false,
    "partial_rotary_factor": 0.25,
    "rms_norm_eps": 1e-06,
    "rope_parameters": {
      "factor": 4.0,
      "mrope_interleaved": true,
      "mrope_section": [11, 11, 10],
      "original_max_position_embeddings": 262144,
      "partial_rotary_factor": 0.25,
      "rope_theta": 10000000,
      "rope_type": "yarn"
    },
    "router_aux_loss_coef": 0.001,
    "shared_expert_intermediate_size": 512,
    "tie_word_embeddings": false,
    "vocab_size": 248320
  },
  "tie_word_embeddings": false
})";

// In the order of the table's columns.
constexpr const char* kAbsent = nullptr;
constexpr std::array<const char*, 12> kEdits = {kAbsent, "null",  "0",     "-1",
                                                "2.5",   "\"4\"", "1e300", "9223372036854775808",
                                                "[4]",   "[]",    "{}",    "true"};

struct FieldEdits {
  const char* path;
  // A letter for each edit: x refused by name; m refused by the name of a field that is missing
  // then; = read as the file without the edit, because the field is not read or the value says the
  // same; ~ read as something else, as a test below says.
  const char* outcomes;
};

constexpr FieldEdits kDenseEdits[] = {
    {"architectures", "============"},
    {"model_type", "==xxxxxxxxxx"},
    {"image_token_id", "============"},
    {"language_model_only", "============"},
    {"text_config", "mmxxxxxxxxxx"},
    {"text_config.attention_bias", "==xxxxxxxxxx"},
    {"text_config.attention_dropout", "============"},
    {"text_config.attn_output_gate", "==xxxxxxxxx="},
    {"text_config.dtype", "============"},
    {"text_config.eos_token_id", "~~~xxxxx~~xx"},
    {"text_config.full_attention_interval", "============"},
    {"text_config.head_dim", "xxxxxxxxxxxx"},
    {"text_config.hidden_act", "==xxxxxxxxxx"},
    {"text_config.hidden_size", "xxxxxxxxxxxx"},
    {"text_config.initializer_range", "============"},
    {"text_config.intermediate_size", "xxxxxxxxxxxx"},
    {"text_config.layer_types", "==xxxxxxxxxx"},
    {"text_config.linear_conv_kernel_dim", "xxxxxxxxxxxx"},
    {"text_config.linear_key_head_dim", "xxxxxxxxxxxx"},
    {"text_config.linear_num_key_heads", "xxxxxxxxxxxx"},
    {"text_config.linear_num_value_heads", "xxxxxxxxxxxx"},
    {"text_config.linear_value_head_dim", "xxxxxxxxxxxx"},
    {"text_config.mamba_ssm_dtype", "==xxx=xxxxxx"},
    {"text_config.max_position_embeddings", "~~xxxxxxxxxx"},
    {"text_config.mlp_only_layers", "============"},
    {"text_config.model_type", "==xxxxxxxxxx"},
    {"text_config.mtp_num_hidden_layers", "~~~xxxxxxxxx"},
    {"text_config.mtp_use_dedicated_embeddings", "==xxxxxxxxx~"},
    {"text_config.num_attention_heads", "xxxxxxxxxxxx"},
    {"text_config.num_hidden_layers", "xxxxxxxxxxxx"},
    {"text_config.num_key_value_heads", "xxxxxxxxxxxx"},
    {"text_config.rms_norm_eps", "==xxxxxxxxxx"},
    {"text_config.rope_parameters", "mmxxxxxxxxxx"},
    {"text_config.rope_parameters.mrope_interleaved", "==xxxxxxxxx="},
    {"text_config.rope_parameters.mrope_section", "==xxxxxxxxxx"},
    {"text_config.rope_parameters.partial_rotary_factor", "==xxxxxxxxxx"},
    {"text_config.rope_parameters.rope_theta", "xxxx~xxxxxxx"},
    {"text_config.rope_parameters.rope_type", "==xxxxxxxxxx"},
    {"text_config.tie_word_embeddings", "==xxxxxxxxx="},
    {"text_config.use_cache", "============"},
    {"text_config.vocab_size", "xxxxxxxxxxxx"},
    {"tie_word_embeddings", "==xxxxxxxxx="},
    {"transformers_version", "============"},
    {"vision_config", "~~xxxxxxxx=x"},
    {"vision_config.depth", "============"},
    {"vision_config.model_type", "============"},
};

constexpr FieldEdits kMoeEdits[] = {
    {"architectures", "============"},
    {"model_type", "==xxxxxxxxxx"},
    {"text_config", "mmxxxxxxxxxx"},
    {"text_config.attn_output_gate", "==xxxxxxxxx="},
    {"text_config.eos_token_id", "~~~xxxxx~~xx"},
    {"text_config.full_attention_interval", "xxxxxxxxxxxx"},
    {"text_config.head_dim", "xxxxxxxxxxxx"},
    {"text_config.hidden_act", "==xxxxxxxxxx"},
    {"text_config.hidden_size", "xxxxxxxxxxxx"},
    {"text_config.linear_conv_kernel_dim", "xxxxxxxxxxxx"},
    {"text_config.linear_key_head_dim", "xxxxxxxxxxxx"},
    {"text_config.linear_num_key_heads", "xxxxxxxxxxxx"},
    {"text_config.linear_num_value_heads", "xxxxxxxxxxxx"},
    {"text_config.linear_value_head_dim", "xxxxxxxxxxxx"},
    {"text_config.max_position_embeddings", "==xxxxxxxxxx"},
    {"text_config.model_type", "==xxxxxxxxxx"},
    {"text_config.moe_intermediate_size", "xxxxxxxxxxxx"},
    {"text_config.mtp_num_hidden_layers", "~~~xxxxxxxxx"},
    {"text_config.num_attention_heads", "xxxxxxxxxxxx"},
    {"text_config.num_experts", "xxxxxxxxxxxx"},
    {"text_config.num_experts_per_tok", "xxxxxxxxxxxx"},
    {"text_config.num_hidden_layers", "xxxxxxxxxxxx"},
    {"text_config.num_key_value_heads", "xxxxxxxxxxxx"},
    {"text_config.output_gate_type", "==xxxxxxxxxx"},
    {"text_config.output_router_logits", "============"},
    {"text_config.partial_rotary_factor", "==xxxxxxxxxx"},
    {"text_config.rms_norm_eps", "==xxxxxxxxxx"},
    {"text_config.rope_parameters", "mmxxxxxxxxxx"},
    {"text_config.rope_parameters.factor", "xxxx~xxxxxxx"},
    {"text_config.rope_parameters.mrope_interleaved", "==xxxxxxxxx="},
    {"text_config.rope_parameters.mrope_section", "==xxxxxxxxxx"},
    {"text_config.rope_parameters.original_max_position_embeddings", "xxxxxxxxxxxx"},
    {"text_config.rope_parameters.partial_rotary_factor", "==xxxxxxxxxx"},
    {"text_config.rope_parameters.rope_theta", "xxxx~xxxxxxx"},
    {"text_config.rope_parameters.rope_type", "~~xxxxxxxxxx"},
    {"text_config.router_aux_loss_coef", "============"},
    {"text_config.shared_expert_intermediate_size", "xxxxxxxxxxxx"},
    {"text_config.tie_word_embeddings", "==xxxxxxxxx~"},
    {"text_config.vocab_size", "xxxxxxxxxxxx"},
    {"tie_word_embeddings", "==xxxxxxxxx~"},
};

// The object that holds the last part of a path, and that part.
struct Place {
  json::object* object;
  std::string key;
};

Place find_place(json::value& root, std::string_view path) {
  json::object* object = &root.as_object();
  while (path.find('.') != path.npos) {
    const std::string_view outer = path.substr(0, path.find('.'));
    object = &object->at({outer.data(), outer.size()}).as_object();
    path.remove_prefix(outer.size() + 1);
  }
  return {object, std::string(path)};
}

json::value parsed(std::string_view text) { return parse_json(text, "test").value(); }

// All that a configuration decides, as text.
std::string meaning(const ModelConfig& config) {
  json::object json = model_config_json(config, DType::kBF16);
  json["vision"] = config.has_vision;
  json["disagree"] = config.tie_levels_disagree;
  json["dedicated"] = config.mtp_dedicated_embeddings;
  return dump_json(json);
}

// x, m, = or ~.
char outcome(const json::value& whole, std::string_view path, const char* edit) {
  json::value root = whole;
  const Place place = find_place(root, path);
  place.object->erase(place.key);
  if (edit != kAbsent) (*place.object)[place.key] = parsed(edit);
  const auto read = read_model_config(root, "config.json");
  if (!read.ok()) {
    const std::string& message = read.error().message;
    if (message.find(place.key) != std::string::npos) return 'x';
    return message.find("nothing, expected") != std::string::npos ? 'm' : '?';
  }
  return meaning(read.value()) == meaning(read_model_config(whole, "config.json").value()) ? '='
                                                                                           : '~';
}

void add_paths(const json::object& object, const std::string& prefix,
               std::vector<std::string>& paths) {
  for (const auto& item : object) {
    const std::string path = prefix + std::string(item.key());
    paths.push_back(path);
    if (item.value().is_object()) add_paths(item.value().get_object(), path + ".", paths);
  }
}

template <size_t kCount>
void check_edits(const char* config, const FieldEdits (&fields)[kCount]) {
  const json::value whole = parsed(config);
  std::vector<std::string> paths;
  add_paths(whole.get_object(), "", paths);
  std::vector<std::string> listed;
  for (const FieldEdits& field : fields) listed.push_back(field.path);
  EXPECT_EQ(listed, paths);
  for (const std::string& path : paths) {
    std::string found;
    for (const char* edit : kEdits) found += outcome(whole, path, edit);
    std::string expected;
    for (const FieldEdits& field : fields) {
      if (field.path == path) expected = field.outcomes;
    }
    EXPECT_EQ(found, expected) << "    {\"" << path << "\", \"" << found << "\"},";
  }
}

TEST(ConfigEdits, EachIsRefusedByNameOrReadAsTheTableSays) {
  check_edits(kDense08B, kDenseEdits);
  check_edits(kMoe35B, kMoeEdits);
}

ModelConfig edited(const char* config, std::string_view path, const char* edit) {
  json::value root = parsed(config);
  const Place place = find_place(root, path);
  place.object->erase(place.key);
  if (edit != kAbsent) (*place.object)[place.key] = parsed(edit);
  return read_model_config(root, "config.json").value();
}

TEST(ConfigEdits, WhatIsReadOtherwiseIsReadAsItSays) {
  using Ids = std::vector<int32_t>;
  for (const char* config : {kDense08B, kMoe35B}) {
    EXPECT_EQ(edited(config, "text_config.eos_token_id", kAbsent).eos_ids, Ids());
    EXPECT_EQ(edited(config, "text_config.eos_token_id", "[]").eos_ids, Ids());
    EXPECT_EQ(edited(config, "text_config.eos_token_id", "0").eos_ids, Ids{0});
    EXPECT_EQ(edited(config, "text_config.eos_token_id", "[4]").eos_ids, Ids{4});
    EXPECT_EQ(edited(config, "text_config.mtp_num_hidden_layers", kAbsent).mtp_layers, 0);
    EXPECT_EQ(edited(config, "text_config.mtp_num_hidden_layers", "0").mtp_layers, 0);
    EXPECT_EQ(edited(config, "text_config.rope_parameters.rope_theta", "2.5").rope.theta, 2.5);
  }
  EXPECT_EQ(edited(kDense08B, "text_config.max_position_embeddings", "null").max_positions, 32768);
  EXPECT_TRUE(edited(kDense08B, "text_config.mtp_use_dedicated_embeddings", "true")
                  .mtp_dedicated_embeddings);
  EXPECT_FALSE(edited(kDense08B, "vision_config", kAbsent).has_vision);
  EXPECT_FALSE(edited(kMoe35B, "text_config.rope_parameters.rope_type", kAbsent).rope.yarn);
  EXPECT_EQ(edited(kMoe35B, "text_config.rope_parameters.factor", "2.5").rope.yarn->factor, 2.5);
  EXPECT_TRUE(edited(kMoe35B, "text_config.tie_word_embeddings", "true").tie_word_embeddings);
  EXPECT_TRUE(edited(kMoe35B, "tie_word_embeddings", "true").tie_levels_disagree);
}

// No JSON: a field twice, and numbers that JSON does not have.
TEST(ConfigEdits, AFieldTwiceAndNaNAreRefusedByName) {
  for (const char* config : {kDense08B, kMoe35B}) {
    const json::value whole = parsed(config);
    std::vector<std::string> paths;
    add_paths(whole.get_object(), "", paths);
    for (const std::string& path : paths) {
      json::value root = whole;
      const Place place = find_place(root, path);
      // A name that nothing else has, so that the text can be found again.
      const json::value value = place.object->at(place.key);
      place.object->erase(place.key);
      (*place.object)["@"] = value;
      const std::string text = dump_json(root);
      const size_t at = text.find("\"@\": ");
      ASSERT_NE(at, text.npos);
      const std::string name = quote_json(place.key) + ": ";
      const std::string before = text.substr(0, at);
      const std::string after = text.substr(at + 5);
      const auto twice = parse_json(before + name + "1, " + name + after, "config.json");
      ASSERT_FALSE(twice.ok()) << path;
      EXPECT_NE(twice.error().message.find(place.key), std::string::npos) << twice.error().message;
      for (const char* number : {"NaN", "Infinity", "-Infinity", "1e999", "0x10", "01"}) {
        const auto bad = parse_json(before + name + number + ", \"@\": " + after, "config.json");
        ASSERT_FALSE(bad.ok()) << path << " " << number;
        EXPECT_EQ(bad.error().code, ErrorCode::kBadFile);
        EXPECT_NE(bad.error().message.find("config.json"), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
