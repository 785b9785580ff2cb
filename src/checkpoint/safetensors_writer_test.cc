#include "checkpoint/safetensors_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/thread_pool.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_index.h"
#include "checkpoint/testing/temporary_folder.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const std::vector<TensorSpec> kSpecs = {
    {"norm", DType::kBF16, {7}},        {"packed", DType::kU32, {3, 5}},
    {"empty", DType::kF32, {0, 4}},     {"scalar", DType::kF64, {}},
    {"odd\"bytes\"", DType::kU8, {11}}, {"matrix", DType::kF16, {4, 3, 9}},
};

std::vector<std::vector<std::byte>> random_contents() {
  std::mt19937 random(11);
  std::vector<std::vector<std::byte>> contents;
  for (const TensorSpec& spec : kSpecs) {
    size_t bytes = size_of(spec.dtype);
    for (const int64_t extent : spec.shape) bytes *= static_cast<size_t>(extent);
    contents.emplace_back(bytes);
    for (std::byte& value : contents.back()) value = static_cast<std::byte>(random());
  }
  return contents;
}

SafetensorsWriterOptions quick(uint64_t shard_bytes = 1'000'000) {
  return {.shard_bytes = shard_bytes, .metadata = {{"format", "mlx"}}, .durable = false};
}

std::unique_ptr<SafetensorsWriter> create(const fs::path& folder,
                                          SafetensorsWriterOptions options) {
  auto writer = SafetensorsWriter::create(folder, kSpecs, options);
  EXPECT_TRUE(writer.ok()) << writer.error().message;
  return std::move(writer).value();
}

// In pieces of at most five bytes, in a shuffled order, by three threads.
void write_all(SafetensorsWriter& writer, const std::vector<std::vector<std::byte>>& contents) {
  struct Piece {
    size_t tensor, begin, size;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < contents.size(); ++i) {
    for (size_t begin = 0; begin < contents[i].size(); begin += 5) {
      pieces.push_back({i, begin, std::min<size_t>(5, contents[i].size() - begin)});
    }
  }
  std::shuffle(pieces.begin(), pieces.end(), std::mt19937(2));
  ThreadPool pool(3);
  pool.run(static_cast<int64_t>(pieces.size()), [&](int64_t index, int) {
    const Piece& piece = pieces[static_cast<size_t>(index)];
    EXPECT_TRUE(writer
                    .write(piece.tensor, piece.begin,
                           std::span(contents[piece.tensor]).subspan(piece.begin, piece.size))
                    .ok());
  });
}

// Finds the tensors `count` of kSpecs in a file and compares their bytes.
size_t check_file(const fs::path& path, const std::vector<std::vector<std::byte>>& contents) {
  auto file = MappedFile::open(path);
  if (!file.ok()) {
    ADD_FAILURE() << file.error().message;
    return 0;
  }
  const std::span<const std::byte> bytes = file.value().bytes();
  auto header = parse_safetensors(bytes, path.string());
  if (!header.ok()) {
    ADD_FAILURE() << header.error().message;
    return 0;
  }
  EXPECT_EQ(header.value().metadata.at("format"), "mlx");
  size_t end = 0;
  for (const SafetensorsEntry& entry : header.value().entries) {
    const auto spec = std::find_if(kSpecs.begin(), kSpecs.end(),
                                   [&](const TensorSpec& s) { return s.name == entry.name; });
    if (spec == kSpecs.end()) {
      ADD_FAILURE() << entry.name;
      continue;
    }
    EXPECT_EQ(entry.dtype, spec->dtype);
    EXPECT_EQ(entry.shape, spec->shape);
    EXPECT_EQ(entry.begin % size_of(entry.dtype), 0u) << entry.name;
    const auto& content = contents[static_cast<size_t>(spec - kSpecs.begin())];
    EXPECT_TRUE(std::ranges::equal(bytes.subspan(entry.begin, entry.bytes), content));
    end = std::max(end, entry.begin + entry.bytes);
  }
  EXPECT_EQ(end, bytes.size());
  return header.value().entries.size();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SafetensorsWriter, WritesOneFileFromPiecesInAnyOrder) {
  const TemporaryFolder folder;
  const auto contents = random_contents();
  const auto writer = create(folder.path(), quick());
  write_all(*writer, contents);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"model.safetensors.partial"});
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"model.safetensors"});
  EXPECT_EQ(check_file(folder.path() / "model.safetensors", contents), kSpecs.size());
}

TEST(SafetensorsWriter, SplitsAboveTheLimitAndWritesAnIndex) {
  const auto contents = random_contents();
  uint64_t total = 0;
  for (const auto& content : contents) total += content.size();
  for (const uint64_t limit : {0u, 1u, 14u, 60u, 75u, 100u, 200u}) {
    const TemporaryFolder folder;
    const auto writer = create(folder.path(), quick(limit));
    write_all(*writer, contents);
    ASSERT_TRUE(writer->finish().ok());
    ASSERT_GT(writer->files().size(), 1u) << limit;
    EXPECT_EQ(writer->tensor_bytes(), total);
    const auto text = read_text_file(folder.path() / "model.safetensors.index.json", 1 << 20);
    ASSERT_TRUE(text.ok());
    const auto index = read_safetensors_index(parse_json(text.value(), "index").value(), "index");
    ASSERT_TRUE(index.ok()) << index.error().message;
    EXPECT_EQ(index.value().shard_of.size(), kSpecs.size());
    EXPECT_NE(text.value().find("\"total_size\": " + std::to_string(total)), std::string::npos);
    size_t found = 0;
    for (const std::string& name : writer->files()) {
      found += check_file(folder.path() / name, contents);
    }
    EXPECT_EQ(found, kSpecs.size());
    EXPECT_EQ(names_in(folder.path()).size(), writer->files().size() + 1);
  }
}

TEST(SafetensorsWriter, LeavesNothingWhenBytesAreMissing) {
  const TemporaryFolder folder;
  auto contents = random_contents();
  auto writer = create(folder.path(), quick(60));
  contents[1].resize(contents[1].size() - 1);
  write_all(*writer, contents);
  const Status status = writer->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("packed"), std::string::npos) << status.error().message;
  writer.reset();
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(SafetensorsWriter, RefusesBytesOutsideATensor) {
  const TemporaryFolder folder;
  const auto writer = create(folder.path(), quick());
  const std::vector<std::byte> bytes(8);
  EXPECT_FALSE(writer->write(0, 7, bytes).ok());
  EXPECT_FALSE(writer->write(0, ~uint64_t{0} - 3, bytes).ok());
  EXPECT_TRUE(writer->write(0, 6, bytes).ok());
}

TEST(SafetensorsWriter, RefusesWhatNoReaderCouldOpen) {
  const TemporaryFolder folder;
  const std::vector<std::vector<TensorSpec>> bad = {
      {{"a", DType::kU8, {1}}, {"a", DType::kU8, {1}}},
      {{"__metadata__", DType::kU8, {1}}},
      {{"", DType::kU8, {1}}},
      {{"line\nbreak", DType::kU8, {1}}},
      {{"a", DType::kU8, {-1}}},
      {{"a", DType::kU8, {int64_t{1} << 62, 4}}},
      {{"a", DType::kF32, {int64_t{1} << 62}}},
  };
  for (const auto& specs : bad) {
    const auto writer = SafetensorsWriter::create(folder.path(), specs, quick());
    EXPECT_FALSE(writer.ok());
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(SafetensorsWriter, OverwritesNothingAndSaysWhereItCannotWrite) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_text_file(folder.path() / "model.safetensors", "mine", false).ok());
  const auto writer = SafetensorsWriter::create(folder.path(), kSpecs, quick());
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.error().message.find("model.safetensors exists"), std::string::npos);
  EXPECT_EQ(read_text_file(folder.path() / "model.safetensors", 100).value(), "mine");
  const auto nowhere = SafetensorsWriter::create(folder.path() / "none", kSpecs, quick());
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().message.find("none"), std::string::npos);
}

TEST(SafetensorsWriter, SaysSoWhenTheDiskIsTooSmall) {
  const TemporaryFolder folder;
  const std::vector<TensorSpec> huge = {{"a", DType::kU8, {int64_t{1} << 60}}};
  const auto writer = SafetensorsWriter::create(folder.path(), huge, quick());
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code, ErrorCode::kIo);
  EXPECT_TRUE(names_in(folder.path()).empty());
}

}  // namespace
}  // namespace lockstep
