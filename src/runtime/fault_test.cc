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

TEST_F(BrokenModel, AFaultNamesLayerAndPosition) {
  put_nan("layers.3.mlp.down_proj.scales", 0, 1);
  const Model model = open_model(folder_);
  TestPass pass(model, 4);
  Session session(pass.get(), 100);
  const std::vector<int32_t> ids = {300, 301, 302};
  const auto result = session.generate({.prompt = ids}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNumeric);
  EXPECT_TRUE(result.error().message.starts_with(
      "layer 3 gave a value that is not finite at position 0 (token id 300)"))
      << result.error().message;
}

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
