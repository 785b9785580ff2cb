#include "apps/model_path.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

TEST(FindModel, NamesLeadToTheEmbeddedFolders) {
  const fs::path models = fs::path(LOCKSTEP_SOURCE_DIR) / "models";
  EXPECT_EQ(find_model("tiny").value(), models / "tiny-dense-mlx-4bit");
  EXPECT_EQ(find_model("tiny-moe").value(), models / "tiny-moe-mlx-4bit");
}

TEST(FindModel, AFolderIsTakenAsItIs) {
  const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "models";
  EXPECT_EQ(find_model(folder.string()).value(), folder);
}

TEST(FindModel, AnythingElseIsRefusedWithWhatWorks) {
  const auto unknown = find_model("no-such-model");
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.error().message,
            "no model \"no-such-model\": a MODEL is a folder with config.json and .safetensors "
            "files, a .gguf file, or tiny or tiny-moe");
  EXPECT_EQ(find_model("some/where/model.gguf").error().code, ErrorCode::kNotFound);
  const auto file = find_model(std::string(LOCKSTEP_SOURCE_DIR) + "/CMakeLists.txt");
  EXPECT_EQ(file.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(file.error().message.find("is a file"), std::string::npos);
  EXPECT_FALSE(find_model("").ok());
}

}  // namespace
}  // namespace lockstep
