#include "checkpoint/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <thread>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/mapping_guard.h"
#include "checkpoint/testing/opened.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Status intact(const MappedFile& file) { return check_mapping(file.bytes(), file.path()); }

uint64_t sum_of(const MappedFile& file) {
  uint64_t sum = 0;
  for (const std::byte byte : file.bytes()) sum += std::to_integer<uint64_t>(byte);
  return sum;
}

TEST(MappedFile, AFileThatShrinksIsAnErrorAndNoCrash) {
  const TempFolder folder;
  const fs::path path = folder.path() / "weights";
  write_file(path, std::string(1 << 20, 'a'));
  auto opened = MappedFile::open(path);
  ASSERT_TRUE(opened.ok());
  const MappedFile file = std::move(opened).value();
  EXPECT_EQ(sum_of(file), uint64_t{'a'} << 20);
  EXPECT_TRUE(intact(file).ok());
  fs::resize_file(path, 5000);
  // From two threads at once: each may be the first at a missing page.
  std::thread other([&] { EXPECT_EQ(sum_of(file), 5000u * 'a'); });
  EXPECT_EQ(sum_of(file), 5000u * 'a');
  other.join();
  expect_error(Result<Status>(intact(file).error()), ErrorCode::kIo,
               "changed while it was in use, from 1048576 to 5000 bytes");
  // Grown again, it is another file all the same.
  fs::resize_file(path, 1 << 20);
  EXPECT_FALSE(intact(file).ok());
}

TEST(MappedFile, AFileThatIsWrittenToIsAnError) {
  const TempFolder folder;
  const fs::path path = folder.path() / "weights";
  write_file(path, "aaaa");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(2));
  expect_error(Result<Status>(intact(file.value()).error()), ErrorCode::kIo,
               "changed while it was in use, in its contents");
  // Replaced under its name, the old one lives on.
  const fs::path renamed = folder.path() / "kept";
  write_file(renamed, "bbbb");
  const auto kept = MappedFile::open(renamed);
  fs::remove(renamed);
  write_file(renamed, "cccc");
  EXPECT_TRUE(intact(kept.value()).ok());
  EXPECT_EQ(sum_of(kept.value()), 4u * 'b');
}

// A read error of any other mapping is none of ours.
TEST(MappedFileDeathTest, OtherBusErrorsStillEndTheProcess) {
  const TempFolder folder;
  const fs::path path = folder.path() / "weights";
  write_file(path, std::string(9000, 'a'));
  const auto file = MappedFile::open(path);
  EXPECT_DEATH(raise(SIGBUS), "");
  EXPECT_TRUE(intact(file.value()).ok());
}

TEST(MappedFile, ACheckpointSaysWhichFileChanged) {
  const TempFolder folder;
  write_model(folder.path(), tiny_model(), 2);
  const auto opened = open_checkpoint(folder.path(), {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_TRUE(check_files(opened.value()).ok());
  fs::resize_file(opened.value().files[1].path(), 64);
  expect_error(Result<Status>(check_files(opened.value()).error()), ErrorCode::kIo,
               opened.value().files[1].path());
}

}  // namespace
}  // namespace lockstep
