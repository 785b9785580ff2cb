#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/json.h"
#include "runtime/stream_engine.h"
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

// The replies to several prompts at once, of `tokens` tokens.
std::vector<Reply> run(const Model& model, const std::vector<std::vector<int32_t>>& prompts,
                       int64_t tokens) {
  ThreadPool pool(1);
  ForwardPass pass(model, {.pool = pool, .isa = best_isa()}, {.rows = 4, .logit_rows = 2});
  const auto engine = StreamEngine::make(pass, pool,
                                         {.context = 100,
                                          .streams = 2,
                                          .pages = 2 * EngineOptions::least_pages(100),
                                          .rules = {.rows = 4}})
                          .value();
  std::vector<ReplyStream> streams;
  for (const auto& prompt : prompts) {
    streams.push_back(
        engine->submit({.prompt = prompt, .max_tokens = tokens, .sampling = {.temperature = 0.0}})
            .value());
  }
  std::vector<Reply> replies;
  for (ReplyStream& stream : streams) replies.push_back(collect_replies(stream).front());
  return replies;
}

TEST_P(PlantedWeights, AFaultNamesLayerStagePositionAndTensor) {
  put_nan(GetParam().tensor, GetParam().element, 1);
  const Model model = open_model(folder_);
  const std::vector<int32_t> ids = {300, 301, 302};
  const Status status = run(model, {ids}, 5)[0].end.status;
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNumeric);
  const std::string& message = status.error().message;
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

TEST_F(BrokenModel, OnlyTheStreamWithTheFaultEnds) {
  // The embedding row of token 500: 6 groups of 64. It is the head's too, so no logits are asked
  // for.
  put_nan("embed_tokens.scales", 500 * 6, 6);
  const Model model = open_model(folder_);
  const std::vector<Reply> both =
      run(model, {{300, 301, 302, 303, 304, 500, 306}, {310, 311, 312, 313, 314, 315, 316}}, 0);
  ASSERT_FALSE(both[0].end.status.ok());
  EXPECT_NE(both[0].end.status.error().message.find("at position 5 (token id 500)"),
            std::string::npos)
      << both[0].end.status.error().message;
  EXPECT_TRUE(both[1].end.status.ok()) << both[1].end.status.error().message;
  EXPECT_EQ(both[1].end.timings.prompt_tokens, 7);
}

}  // namespace
}  // namespace lockstep
