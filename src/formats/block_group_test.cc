#include "formats/block_group.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/float16.h"
#include "formats/matrix.h"

namespace lockstep {
namespace {

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct Figure {
  std::vector<std::byte> blocks;
  std::vector<std::byte> values;
};

// tests/figures/gguf/blocks.txt, which python/make_block_figures.py writes with the gguf package.
std::map<std::string, Figure> read_figures() {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/figures/gguf/blocks.txt");
  std::map<std::string, Figure> figures;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name, blocks, values;
    words >> name >> blocks >> values;
    figures[name] = {from_hex(blocks), from_hex(values)};
  }
  return figures;
}

TEST(BlockGroup, DecodesEveryFormatAsThePublishedReaderDoes) {
  const auto figures = read_figures();
  ASSERT_EQ(figures.size(), static_cast<size_t>(kBlockTypes));
  for (int i = 0; i < kBlockTypes; ++i) {
    const auto type = static_cast<BlockType>(i);
    ASSERT_TRUE(figures.contains(to_string(type))) << to_string(type);
    const Figure& figure = figures.at(to_string(type));
    const auto cols = static_cast<int64_t>(figure.values.size() / sizeof(float));
    const MatrixView view{.encoding = Encoding::kBlocks,
                          .block = type,
                          .rows = 1,
                          .cols = cols,
                          .data = figure.blocks.data()};
    ASSERT_EQ(view.row_bytes(), figure.blocks.size()) << to_string(type);
    std::vector<float> values(static_cast<size_t>(cols));
    decode_row(view, 0, values.data());
    for (int64_t k = 0; k < cols; ++k) {
      const auto want = load_unaligned<float>(figure.values.data() + 4 * k);
      ASSERT_EQ(values[static_cast<size_t>(k)], want) << to_string(type) << ", element " << k;
    }
  }
}

TEST(BlockGroup, SlicesRowsByWholeBlocks) {
  const auto figures = read_figures();
  for (const char* name : {"Q8_0", "Q6_K"}) {
    const Figure& figure = figures.at(name);
    const BlockType type = name[1] == '8' ? BlockType::kQ8_0 : BlockType::kQ6_K;
    const int64_t cols = block_shape(type).elements;
    const MatrixView view{.encoding = Encoding::kBlocks,
                          .block = type,
                          .rows = 2,
                          .cols = cols,
                          .data = figure.blocks.data()};
    std::vector<float> values(static_cast<size_t>(cols));
    decode_row(view.row_slice(1, 1), 0, values.data());
    for (int64_t k = 0; k < cols; ++k) {
      EXPECT_EQ(values[static_cast<size_t>(k)],
                load_unaligned<float>(figure.values.data() + 4 * (cols + k)));
    }
    EXPECT_EQ(view.total_bytes(), 2 * view.row_bytes());
  }
}

}  // namespace
}  // namespace lockstep
