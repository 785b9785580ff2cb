#include "checkpoint/gguf/container.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "checkpoint/gguf/writer.h"
#include "checkpoint/testing/opened.h"

namespace lockstep {
namespace {

constexpr GgufTensorType kF32 = {DType::kF32, {}};
constexpr GgufTensorType kQ8 = {DType::kU8, BlockType::kQ8_0};

std::string small_file() {
  GgufWriter writer;
  writer.add("general.architecture", "qwen35");
  writer.add("a.number", uint32_t{7});
  writer.add("a.share", 0.5f);
  writer.add("a.flag", true);
  const std::vector<int32_t> sections = {11, 11, 10, 0};
  writer.add("a.list", std::span<const int32_t>(sections));
  const std::vector<std::string_view> texts = {"one", "", "three"};
  writer.add("a.texts", std::span<const std::string_view>(texts));
  const int64_t vector[] = {5};
  const int64_t matrix[] = {2, 64};
  writer.add_tensor("v", kF32, vector);
  writer.add_tensor("m", kQ8, matrix);
  std::string file = writer.header();
  file.resize(writer.file_bytes(), '\x01');
  return file;
}

Result<GgufContainer> parse(const std::string& file) {
  return parse_gguf(std::as_bytes(std::span(file)), "test.gguf");
}

// Overwrites the bytes behind the first place where `text` stands, `gap` bytes on.
template <typename T>
std::string edited(std::string file, std::string_view text, size_t gap, T value) {
  const size_t at = file.find(text);
  EXPECT_NE(at, file.npos) << text;
  std::memcpy(file.data() + at + text.size() + gap, &value, sizeof(value));
  return file;
}

TEST(GgufContainer, ReadsBackWhatTheWriterWrote) {
  const std::string file = small_file();
  const auto parsed = parse(file);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const GgufMetadata& metadata = parsed.value().metadata;
  EXPECT_EQ(metadata.text("general.architecture").value(), "qwen35");
  EXPECT_EQ(metadata.integer("a.number", {0, 9}).value(), 7);
  EXPECT_EQ(metadata.number("a.share", {0.0, 1.0}).value(), 0.5);
  EXPECT_TRUE(metadata.boolean("a.flag").value());
  EXPECT_EQ(metadata.integers("a.list", {0, 99}, 4).value(), (std::vector<int64_t>{11, 11, 10, 0}));
  EXPECT_EQ(metadata.texts("a.texts", 9).value(),
            (std::vector<std::string_view>{"one", "", "three"}));
  ASSERT_EQ(parsed.value().tensors.size(), 2u);
  const GgufTensor& matrix = parsed.value().tensors[1];
  EXPECT_EQ(matrix.name, "m");
  EXPECT_EQ(matrix.ne, (std::array<int64_t, 4>{64, 2, 1, 1}));
  EXPECT_EQ(matrix.bytes, 4u * 34u);
  EXPECT_EQ(matrix.begin % 32, 0u);
  EXPECT_EQ(matrix.begin + matrix.bytes, file.size());
}

TEST(GgufContainer, RefusesEveryShorterFile) {
  const std::string file = small_file();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(parse(file.substr(0, size)).ok()) << size;
  }
}

TEST(GgufContainer, NamesWhatIsBroken) {
  const std::string file = small_file();
  const auto refused = [&](const std::string& broken, ErrorCode code, const std::string& named) {
    expect_error(parse(broken), code, named);
    expect_error(parse(broken), code, "test.gguf: ");
  };
  refused("GGUX" + file.substr(4), ErrorCode::kBadFile, "not a GGUF file");
  refused(edited(file, "GGUF", 0, uint32_t{1}), ErrorCode::kUnsupported, "version 1");
  refused(edited(file, "GGUF", 0, uint32_t{0x03000000}), ErrorCode::kUnsupported, "big-endian");
  refused(edited(file, "GGUF", 4, uint64_t{1} << 62), ErrorCode::kBadFile, "tensors");
  refused(edited(file, "GGUF", 12, uint64_t{5000}), ErrorCode::kBadFile, "found 5000 fields");
  refused(edited(file, "a.number", 0, uint32_t{13}), ErrorCode::kBadFile, "value type 13");
  refused(edited(file, "a.list", 4, uint32_t{9}), ErrorCode::kBadFile, "a.list: a list of lists");
  refused(edited(file, "a.list", 8, uint64_t{1} << 62), ErrorCode::kBadFile, "ends within");
  refused(edited(file, "a.texts", 16, uint64_t{1} << 63), ErrorCode::kBadFile, "ends within");
  refused(edited(file, "a.flag", 4, uint8_t{2}), ErrorCode::kBadFile, "a.flag: a truth value");
  refused(edited(file, "a.num", 0, std::array<char, 3>{' ', 'e', 'r'}), ErrorCode::kBadFile,
          "printable ASCII");
  std::string twice = file;
  twice.replace(twice.find("a.share"), 7, "a.texts");
  refused(twice, ErrorCode::kBadFile, "a.texts is there twice");
}

TEST(GgufContainer, NamesWhatIsBrokenInATensor) {
  const std::string file = small_file();
  const std::string matrix = std::string("\x01\0\0\0\0\0\0\0", 8) + "m";  // its name
  const auto refused = [&](const std::string& broken, ErrorCode code, const std::string& named) {
    expect_error(parse(broken), code, named);
    expect_error(parse(broken), code, "tensor ");
  };
  refused(edited(file, matrix, 0, uint32_t{0}), ErrorCode::kBadFile, "found 0 dimensions");
  refused(edited(file, matrix, 0, uint32_t{5}), ErrorCode::kBadFile, "found 5 dimensions");
  refused(edited(file, matrix, 4, uint64_t{0}), ErrorCode::kBadFile, "a dimension of 0");
  refused(edited(file, matrix, 4, ~uint64_t{0}), ErrorCode::kBadFile, "a dimension of");
  refused(edited(file, matrix, 4, uint64_t{48}), ErrorCode::kBadFile, "a multiple of 32");
  refused(edited(file, matrix, 12, uint64_t{1} << 40), ErrorCode::kBadFile, "cut short");
  refused(edited(file, matrix, 20, uint32_t{21}), ErrorCode::kUnsupported, "21 (IQ3_S)");
  refused(edited(file, matrix, 20, uint32_t{999}), ErrorCode::kUnsupported, "Q4_K");
  refused(edited(file, matrix, 24, uint64_t{8}), ErrorCode::kBadFile, "a multiple of 32");
  refused(edited(file, matrix, 24, uint64_t{0}), ErrorCode::kBadFile, "overlaps");
  refused(edited(file, matrix, 24, uint64_t{1} << 60), ErrorCode::kBadFile, "offset");
  std::string twice = file;
  twice[twice.find(matrix) + 8] = 'v';
  refused(twice, ErrorCode::kBadFile, "tensor v is there twice");
  std::string huge = edited(file, matrix, 4, uint64_t{1} << 40);
  refused(edited(huge, matrix, 12, uint64_t{1} << 40), ErrorCode::kBadFile, "2^63");
}

TEST(GgufContainer, ObeysTheAlignmentThatAFileStates) {
  GgufWriter writer;
  writer.add("general.alignment", uint32_t{48});
  expect_error(parse(writer.header()), ErrorCode::kBadFile, "a power of two");
  GgufWriter other;
  other.add("general.alignment", uint32_t{0});
  expect_error(parse(other.header()), ErrorCode::kBadFile, "general.alignment");
}

}  // namespace
}  // namespace lockstep
