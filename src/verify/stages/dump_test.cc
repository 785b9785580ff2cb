#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "verify/stages/dump.h"

namespace lockstep::verify {
namespace {

namespace fs = std::filesystem;

StageDump small_dump() {
  StageDump dump;
  dump.identity = {.producer = "test 1",
                   .source = "engine",
                   .precision = "backend=cpu precision=full",
                   .weights = "0123abcd",
                   .vocab = 10};
  dump.ids = {3, 9, 0, 4};
  dump.positions = {1, 3};
  dump.at("embed", 2).data = {1, 2, 3, 4};
  dump.at("draft.logits", 3).data = {7, 8, 9};  // no row at the last position
  return dump;
}

Result<StageDump> parse(const std::string& file) {
  return parse_dump(std::as_bytes(std::span(file)), "a.safetensors");
}

// The file with its size and checksum made right after a change.
std::string sealed(std::string file) {
  EXPECT_TRUE(seal_dump(file));
  return file;
}

std::string refusal(const std::string& file) {
  const auto dump = parse(file);
  return dump.ok() ? "accepted" : dump.error().message;
}

TEST(StageDump, ComesBackAsItWasWritten) {
  const StageDump dump = small_dump();
  const auto read = parse(to_bytes(dump));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().ids, dump.ids);
  EXPECT_EQ(read.value().positions, dump.positions);
  EXPECT_EQ(read.value().identity.precision, dump.identity.precision);
  EXPECT_EQ(read.value().identity.vocab, 10);
  ASSERT_NE(read.value().find("embed"), nullptr);
  EXPECT_EQ(read.value().find("embed")->data, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(read.value().find("draft.logits")->width, 3);
}

TEST(StageDump, EveryChangedByteIsRefused) {
  const std::string file = to_bytes(small_dump());
  for (size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_NE(refusal(changed), "accepted") << "byte " << i;
  }
}

TEST(StageDump, EveryTruncationIsRefused) {
  const std::string file = to_bytes(small_dump());
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(refusal(file.substr(0, size)), "accepted") << size;
  }
  EXPECT_NE(refusal(file.substr(0, file.size() - 1)).find("truncated"), std::string::npos);
  EXPECT_NE(refusal(file + "x"), "accepted");
}

TEST(StageDump, NamesWhatIsWrong) {
  const auto refused = [](const char* words, const StageDump& dump) {
    const std::string message = refusal(to_bytes(dump));
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  StageDump dump = small_dump();
  dump.ids[2] = 10;
  refused("id 10 at position 2 is out of range: the vocabulary has 10", dump);
  dump.ids[2] = -1;
  refused("id -1 at position 2 is out of range", dump);
  dump = small_dump();
  dump.positions = {3, 1};
  refused("positions are not ascending: 1 after 3", dump);
  dump.positions = {1, 1};
  refused("positions are not ascending: 1 after 1", dump);
  dump.positions = {1, 4};
  refused("position 4 is out of range: the sequence has 4 ids", dump);
  dump = small_dump();
  dump.at("embed", 2).data.pop_back();
  dump.at("embed", 2).data.pop_back();
  refused("stage embed must be F32 [2, width]", dump);
  dump = small_dump();
  dump.stages.clear();
  refused("holds no stage", dump);
}

TEST(StageDump, AnotherFormatIsRefusedByItsName) {
  std::string file = to_bytes(small_dump());
  const size_t at = file.find("lockstep-stages-1");
  file[at + std::strlen("lockstep-stages-")] = '9';
  EXPECT_NE(refusal(sealed(file)).find("lockstep-stages-9"), std::string::npos);
  EXPECT_NE(refusal("").find("not a dump of stages"), std::string::npos);
  EXPECT_NE(refusal(std::string(8, '\0') + "{}").find("not a dump of stages"), std::string::npos);
}

TEST(StageDump, AFlippedChecksumDigitIsAWrongChecksum) {
  std::string file = to_bytes(small_dump());
  const size_t at = file.find("\"crc32\": \"") + std::strlen("\"crc32\": \"");
  file[at] = file[at] == '0' ? '1' : '0';
  EXPECT_NE(refusal(file).find("wrong checksum"), std::string::npos) << refusal(file);
}

TEST(StageDump, FileAppearsWholeAndOnce) {
  const fs::path path =
      fs::temp_directory_path() / ("stage_dump_test_" + std::to_string(getpid()) + ".safetensors");
  fs::remove(path);
  ASSERT_TRUE(write_dump(path, small_dump()).ok());
  EXPECT_TRUE(read_dump(path).ok());
  EXPECT_FALSE(fs::exists(path.string() + ".partial"));
  EXPECT_FALSE(write_dump(path, small_dump()).ok()) << "an existing file was written over";
  fs::remove(path);
}

TEST(StageDump, OfOtherWeightsIsRefused) {
  const Status same = check_same_weights(small_dump(), "A", "0123abcd", "B");
  EXPECT_TRUE(same.ok());
  const Status other = check_same_weights(small_dump(), "A", "ffffffff", "B");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("other weights"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::verify
