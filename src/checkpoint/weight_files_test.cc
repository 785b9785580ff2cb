// Files and shards on disk: what is missing, misplaced or no file at all is named.
#include "checkpoint/weight_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "checkpoint/safetensors_index.h"
#include "checkpoint/testing/opened.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Result<SafetensorsIndex> read_index(std::string_view text) {
  return read_safetensors_index(parse_json(text, "index").value(), "index");
}

TEST(MappedFile, RefusesWhatIsNoFileWithoutWaiting) {
  const TempFolder folder;
  expect_error(MappedFile::open(folder.path()), ErrorCode::kBadFile, "a directory");
  expect_error(MappedFile::open("/dev/null"), ErrorCode::kBadFile, "a device");
  expect_error(MappedFile::open(folder.path() / "none"), ErrorCode::kNotFound, "none");
  const fs::path fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expect_error(MappedFile::open(fifo), ErrorCode::kBadFile, "a FIFO");
  expect_error(read_text_file(fifo, 100), ErrorCode::kBadFile, "a FIFO");
  write_file(folder.path() / "empty", "");
  expect_error(MappedFile::open(folder.path() / "empty"), ErrorCode::kBadFile, "empty");
  fs::create_symlink("loop", folder.path() / "loop");
  expect_error(MappedFile::open(folder.path() / "loop"), ErrorCode::kIo, "loop");
  write_file(folder.path() / "long", "12345");
  expect_error(read_text_file(folder.path() / "long", 4), ErrorCode::kBadFile, "5 bytes");
  EXPECT_EQ(read_text_file(folder.path() / "long", 5).value(), "12345");
}

TEST(MappedFile, BytesStayInPlaceWhenItMoves) {
  const TempFolder folder;
  write_file(folder.path() / "f", "contents");
  MappedFile first = MappedFile::open(folder.path() / "f").value();
  const std::byte* address = first.bytes().data();
  MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes().data(), address);
  EXPECT_TRUE(first.bytes().empty());
  MappedFile third = MappedFile::open(folder.path() / "f").value();
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), address);
  EXPECT_EQ(static_cast<char>(third.bytes()[7]), 's');
  EXPECT_TRUE(third.load(0, 8).ok());
  EXPECT_TRUE(third.load(3, 1u << 30).ok());
  EXPECT_TRUE(third.load(1u << 30, 1).ok());
}

TEST(SafetensorsIndex, RefusesPathsThatLeaveTheFolder) {
  for (const char* name : {"../x.safetensors", "/etc/x.safetensors", "a/x.safetensors", "..", ".",
                           "", "x.bin", "a\\\\x.safetensors", "x\\u0000.safetensors"}) {
    const std::string text = std::string(R"({"weight_map":{"t":")") + name + "\"}}";
    expect_error(read_index(text), ErrorCode::kBadFile, "weight_map.t");
  }
  for (const char* text : {"{}", "[]", R"({"weight_map":[]})", R"({"weight_map":{}})",
                           R"({"weight_map":{"t":3}})", R"({"weight_map":{"t":null}})"}) {
    expect_error(read_index(text), ErrorCode::kBadFile, "weight_map");
  }
  EXPECT_TRUE(read_index(R"({"weight_map":{"t":"m.safetensors"}})").ok());
}

class Shards : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(path("a.safetensors"), safetensors_file({{"one", tensor_}, {"two", tensor_}}));
    write_file(path("b.safetensors"), safetensors_file({{"three", tensor_}}));
    index({{"one", "a"}, {"two", "a"}, {"three", "b"}});
  }

  fs::path path(const std::string& name) const { return folder_.path() / name; }
  void index(const std::map<std::string, std::string>& shard_of) const {
    json::object map;
    for (const auto& [name, shard] : shard_of) map[name] = shard + ".safetensors";
    write_file(path("model.safetensors.index.json"), dump_json(json::object{{"weight_map", map}}));
  }

  const TestTensor tensor_ = random_floats(DType::kF32, {3}, 1);
  TempFolder folder_;
};

TEST_F(Shards, OpenInFullAndOnlyThose) {
  write_file(path("other.safetensors"), "not read");
  const auto opened = open_weight_folder(folder_.path());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened.value().files.size(), 2u);
  EXPECT_EQ(opened.value().tensors.size(), 3u);
}

TEST_F(Shards, MissingShardsAreNamed) {
  fs::remove(path("b.safetensors"));
  expect_error(open_weight_folder(folder_.path()), ErrorCode::kNotFound, "b.safetensors");
}

TEST_F(Shards, TensorsInAnotherShardAreNamed) {
  index({{"one", "a"}, {"two", "b"}, {"three", "b"}});
  expect_error(open_weight_folder(folder_.path()), ErrorCode::kBadFile, "two");
}

TEST_F(Shards, TensorsThatNoShardHoldsAreNamed) {
  index({{"one", "a"}, {"two", "a"}, {"three", "b"}, {"four", "b"}});
  expect_error(open_weight_folder(folder_.path()), ErrorCode::kBadFile, "four");
}

TEST_F(Shards, TensorsThatAStaleIndexLacksAreReadAllTheSame) {
  index({{"one", "a"}, {"three", "b"}});
  EXPECT_EQ(open_weight_folder(folder_.path()).value().tensors.size(), 3u);
}

TEST_F(Shards, TensorsInTwoShardsAreNamed) {
  write_file(path("b.safetensors"), safetensors_file({{"one", tensor_}, {"three", tensor_}}));
  expect_error(open_weight_folder(folder_.path()), ErrorCode::kBadFile, "one");
}

TEST_F(Shards, ShardsThatAreNoFilesAreNamed) {
  fs::remove(path("b.safetensors"));
  fs::create_directory(path("b.safetensors"));
  expect_error(open_weight_folder(folder_.path()), ErrorCode::kBadFile, "a directory");
}

TEST(WeightFolder, WithoutWeightsSaysWhatIsThere) {
  const TempFolder folder;
  expect_error(open_weight_folder(folder.path()), ErrorCode::kNotFound, "model.safetensors");
  write_file(folder.path() / "model.Q4_0.gguf", "GGUF");
  expect_error(open_weight_folder(folder.path()), ErrorCode::kUnsupported, "model.Q4_0.gguf");
  fs::remove(folder.path() / "model.Q4_0.gguf");
  write_file(folder.path() / "pytorch_model.bin", "x");
  expect_error(open_weight_folder(folder.path()), ErrorCode::kUnsupported, "can run code");
  write_file(folder.path() / "weights.safetensors", "x");
  expect_error(open_weight_folder(folder.path()), ErrorCode::kNotFound, "weights.safetensors");
}

}  // namespace
}  // namespace lockstep
