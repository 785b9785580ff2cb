#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/json.h"
#include "runtime/session.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// A copy of the embedded model in which 16-bit elements of one tensor are NaN.
class BrokenModel : public testing::Test {
 protected:
  BrokenModel() {
    std::string pattern = (fs::temp_directory_path() / "lockstep_fault_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::copy(tiny_model_folder(), folder_, fs::copy_options::recursive);
  }
  ~BrokenModel() override { fs::remove_all(folder_); }

  void put_nan(std::string_view name_end, size_t first, size_t count) {
    const fs::path path = folder_ / "model.safetensors";
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    const json::value root =
        parse_json(std::string_view(bytes).substr(8, header), "header").value();
    for (const auto& [name, tensor] : root.as_object()) {
      if (!std::string_view(name).ends_with(name_end)) continue;
      const auto offset = tensor.at("data_offsets").at(0).to_number<uint64_t>();
      for (size_t i = first; i < first + count; ++i) {
        std::memcpy(bytes.data() + 8 + header + offset + 2 * i, "\xc0\x7f", 2);
      }
      std::ofstream(path, std::ios::binary) << bytes;
      return;
    }
    FAIL() << "no tensor " << name_end;
  }

  fs::path folder_;
};

struct Planted {
  const char* tensor;  // ends the name of the one that gets a NaN
  const char* place;   // what the message begins with
  size_t element = 0;
  int position = 0;  // of the first row that it reaches
};

class PlantedWeights : public BrokenModel, public testing::WithParamInterface<Planted> {};

TEST_P(PlantedWeights, AFaultNamesLayerStagePositionAndTensor) {
  put_nan(GetParam().tensor, GetParam().element, 1);
  const Model model = open_model(folder_);
  TestPass pass(model, 4);
  Session session(pass.get(), 100);
  const std::vector<int32_t> ids = {300, 301, 302};
  const auto result = session.generate({.prompt = ids}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNumeric);
  const std::string& message = result.error().message;
  const int position = GetParam().position;
  const std::string start =
      fmt::format("{} gave a value that is not finite at position {} (token id {})",
                  GetParam().place, position, ids[static_cast<size_t>(position)]);
  EXPECT_TRUE(message.starts_with(start)) << message;
  EXPECT_NE(message.find(std::string(GetParam().tensor) + " of "), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("holds NaN or infinity")) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Sites, PlantedWeights,
    testing::Values(Planted{"embed_tokens.scales", "the stage embed", 300 * 6},
                    Planted{"layers.0.linear_attn.in_proj_qkv.biases", "layer 0, in_proj_qkv"},
                    Planted{"layers.0.linear_attn.in_proj_z.scales", "layer 0, in_proj_z"},
                    Planted{"layers.1.linear_attn.in_proj_a.scales", "layer 1, in_proj_a"},
                    Planted{"layers.1.linear_attn.in_proj_b.biases", "layer 1, in_proj_b"},
                    Planted{"layers.2.linear_attn.out_proj.scales", "layer 2, mixer_branch"},
                    Planted{"layers.3.self_attn.q_proj.scales", "layer 3, q_proj"},
                    Planted{"layers.3.self_attn.k_proj.biases", "layer 3, k_proj"},
                    Planted{"layers.3.self_attn.v_proj.scales", "layer 3, v_proj"},
                    Planted{"layers.3.mlp.gate_proj.biases", "layer 3, gate_proj"},
                    Planted{"layers.3.mlp.up_proj.scales", "layer 3, up_proj"},
                    Planted{"layers.3.mlp.down_proj.scales", "layer 3, ffn_branch"},
                    Planted{"embed_tokens.biases", "the stage logits", 12000 * 6, 2}));

TEST_F(BrokenModel, AFailedPromptLeavesTheSessionAtItsLastGoodChunk) {
  // The embedding row of token 500: 6 groups of 64.
  put_nan("embed_tokens.scales", 500 * 6, 6);
  const Model model = open_model(folder_);
  TestPass pass(model, 4);
  Session session(pass.get(), 100);
  std::vector<int32_t> ids = {300, 301, 302, 303, 304, 500, 306};
  const auto result = session.generate({.prompt = ids}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("at position 5 (token id 500)"), std::string::npos)
      << result.error().message;
  EXPECT_EQ(session.ids().size(), 4u);
}

}  // namespace
}  // namespace lockstep
