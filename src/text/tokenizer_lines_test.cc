// The lines that python/make_tokenizer_lines.py made, against what Hugging Face tokenizers made of
// them.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "text/detokenizer.h"
#include "text/nfc.h"
#include "text/pattern_splitter.h"
#include "text/tokenizer.h"
#include "text/tokenizers_for_test.h"
#include "text/utf8.h"
#include "text/word_splitter.h"

namespace lockstep {
namespace {

struct Line {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<size_t> word_ends;
};

class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}

  bool at_end() const { return data_.empty(); }

  uint32_t number() {
    uint32_t value = 0;
    for (int shift = 0; shift < 35 && !data_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes(1)[0]);
      value |= (byte & 0x7Fu) << shift;
      if ((byte & 0x80u) == 0) break;
    }
    return value;
  }
  std::string_view bytes(size_t count) {
    const std::string_view taken = data_.substr(0, count);
    data_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view data_;
};

std::vector<Line> read_lines() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/src/text/tokenizer_lines.bin", std::ios::binary);
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  std::vector<Line> lines;
  for (Reader reader(data); !reader.at_end();) {
    Line& line = lines.emplace_back();
    line.text = reader.bytes(reader.number());
    for (uint32_t left = reader.number(); left > 0; --left) {
      line.ids.push_back(static_cast<int32_t>(reader.number()));
    }
    size_t end = 0;
    for (uint32_t left = reader.number(); left > 0; --left) {
      line.word_ends.push_back(end += reader.number());
    }
  }
  return lines;
}

const std::vector<Line>& all_lines() {
  static const std::vector<Line> lines = read_lines();
  return lines;
}

TEST(TokenizerLines, HaveTheIdsOfTheReference) {
  ASSERT_GE(all_lines().size(), 20000u);
  for (const Line& line : all_lines()) {
    ASSERT_EQ(embedded_tokenizer().encode(line.text).value(), line.ids)
        << testing::PrintToString(line.text);
  }
}

TEST(TokenizerLines, AreCutIntoTheWordsOfTheReference) {
  std::string storage;
  std::vector<size_t> ends;
  for (const Line& line : all_lines()) {
    ends.clear();
    const std::string repaired = replace_invalid_utf8(line.text);
    split_words(normalize_nfc(repaired, storage), ends);
    ASSERT_EQ(ends, line.word_ends) << testing::PrintToString(line.text);
  }
}

// The hand-written matcher against the pattern itself, but for letters that PCRE2's Unicode lacks.
TEST(TokenizerLines, AreCutAlikeByThePattern) {
  const PatternSplitter splitter = PatternSplitter::compile(kFamilyPattern).value();
  std::string storage;
  std::vector<size_t> ends;
  size_t different = 0;
  for (const Line& line : all_lines()) {
    ends.clear();
    const std::string repaired = replace_invalid_utf8(line.text);
    ASSERT_TRUE(splitter.split(normalize_nfc(repaired, storage), ends).ok());
    different += ends == line.word_ends ? 0 : 1;
  }
  EXPECT_LE(different, all_lines().size() / 1000);
}

TEST(TokenizerLines, StreamAsTheyDecode) {
  for (const Line& line : all_lines()) {
    Detokenizer detokenizer(embedded_tokenizer());
    std::string streamed;
    for (const int32_t id : line.ids) {
      const std::string part = detokenizer.push(id);
      ASSERT_TRUE(is_valid_utf8(part));
      streamed += part;
    }
    streamed += detokenizer.finish();
    ASSERT_EQ(streamed, embedded_tokenizer().decode(line.ids)) << testing::PrintToString(line.text);
  }
}

TEST(TokenizerLines, NormaliseToAFixedPoint) {
  std::string once, twice;
  for (const Line& line : all_lines()) {
    const std::string repaired = replace_invalid_utf8(line.text);
    const std::string normalized(normalize_nfc(repaired, once));
    ASSERT_EQ(normalize_nfc(normalized, twice), normalized) << testing::PrintToString(line.text);
  }
}

}  // namespace
}  // namespace lockstep
