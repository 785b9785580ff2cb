#include "checkpoint/content_hash.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Hash128 hash_of(const fs::path& folder) {
  const Checkpoint checkpoint = open_checkpoint(folder, {}).value();
  return content_hash(checkpoint).value();
}

void change_last_byte(const fs::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-1, std::ios::end);
  const int byte = file.get();
  file.seekp(-1, std::ios::end);
  file.put(static_cast<char>(byte ^ 1));
}

TEST(ContentHash, ChangesWithEveryFileAndNotWithItsPlace) {
  const fs::path source = fs::path(LOCKSTEP_SOURCE_DIR) / "models" / "tiny-dense-mlx-4bit";
  const fs::path copy = fs::temp_directory_path() / "lockstep-content-hash";
  fs::remove_all(copy);
  fs::copy(source, copy, fs::copy_options::recursive);
  const Hash128 hash = hash_of(source);
  EXPECT_EQ(hash_of(copy), hash);
  std::vector<fs::path> weights;
  for (const fs::directory_entry& entry : fs::directory_iterator(copy)) {
    if (entry.path().extension() == ".safetensors") weights.push_back(entry.path());
  }
  ASSERT_FALSE(weights.empty());
  for (const fs::path& path : weights) {
    change_last_byte(path);
    EXPECT_NE(hash_of(copy), hash) << path;
    change_last_byte(path);
  }
  std::ofstream(copy / "config.json", std::ios::app) << "\n";
  EXPECT_NE(hash_of(copy), hash);
  fs::remove_all(copy);
}

}  // namespace
}  // namespace lockstep
