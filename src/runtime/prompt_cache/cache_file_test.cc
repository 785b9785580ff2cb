#include "runtime/prompt_cache/cache_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "base/hash128.h"
#include "checkpoint/testing/temporary_folder.h"
#include "runtime/prompt_cache/fake_model_test.h"
#include "runtime/prompt_cache/file_descriptor.h"

namespace lockstep {
namespace {

using Bytes = std::vector<std::byte>;
constexpr const char* kKey = "backend=cpu weights=abc";

CacheFileHead head_of(size_t length) {
  CacheFileHead head{kKey, "salt", SaveKind::kUserTurn, std::vector<int32_t>(length)};
  std::iota(head.ids.begin(), head.ids.end(), 7);
  return head;
}

class CacheFileTest : public testing::Test {
 protected:
  Bytes write(const CacheFileHead& head) {
    const SequenceState state = state_after(head.ids);
    const FileDescriptor file(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    EXPECT_TRUE(write_cache_file(file.get(), head, state).ok());
    std::ifstream in(path_, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto bytes = std::as_bytes(std::span(text));
    EXPECT_EQ(bytes.size(), cache_file_bytes(head, fake_shape()));
    return {bytes.begin(), bytes.end()};
  }

  // A new file each time: some file systems flush one that is cut to nothing and written again.
  void put(const Bytes& bytes) {
    std::filesystem::remove(path_);
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  }

  // The outcome of reading the file: what is refused must leave the state as it was.
  ErrorCode read_error(const CacheFileHead& head) {
    SequenceState state = fake_state();
    const Status status = read_cache_file(path_, head.key, head.salt, head.ids, state);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(state.position(), 0);
    return status.ok() ? ErrorCode::kInvalidArgument : status.error().code;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "file";
};

TEST_F(CacheFileTest, ComesBackAsItWas) {
  for (const size_t length : {1u, 63u, 64u, 65u, 130u}) {
    const CacheFileHead head = head_of(length);
    write(head);
    const CacheFileHead found = read_cache_head(path_, kKey, fake_shape()).value();
    EXPECT_EQ(found.salt, "salt");
    EXPECT_EQ(found.kind, SaveKind::kUserTurn);
    EXPECT_EQ(found.ids, head.ids);
    SequenceState state = fake_state();
    ASSERT_TRUE(read_cache_file(path_, kKey, "salt", head.ids, state).ok());
    EXPECT_EQ(bytes_of(state), bytes_of(state_after(head.ids)));
    run_row(state, 3);
    SequenceState cold = state_after(head.ids);
    run_row(cold, 3);
    EXPECT_EQ(bytes_of(state), bytes_of(cold));
  }
}

// A head of many ids takes a second read.
TEST_F(CacheFileTest, LongHeadsAreReadWhole) {
  StateShape shape = fake_shape();
  shape.attention_layers = 0;
  CacheFileHead head = head_of(30000);
  SequenceState state(shape);
  ASSERT_TRUE(state.begin_round(30000).ok());
  state.commit(30000);
  const FileDescriptor file(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  ASSERT_TRUE(write_cache_file(file.get(), head, state).ok());
  EXPECT_EQ(read_cache_head(path_, kKey, shape).value().ids, head.ids);
}

TEST_F(CacheFileTest, AnyByteThatIsNotWhatWasWrittenIsRefused) {
  const CacheFileHead head = head_of(70);
  const Bytes good = write(head);
  // Every byte of the head, and every 7th of the rest: states, rows and hashes.
  const size_t head_end = good.size() - 16 - stored_bytes(fake_shape(), 70);
  for (size_t at = 0; at < good.size(); at += at < head_end + 80 ? 1 : 7) {
    for (const std::byte flip : {std::byte{1}, std::byte{0x80}}) {
      Bytes bad = good;
      bad[at] ^= flip;
      put(bad);
      const ErrorCode code = read_error(head);
      ASSERT_TRUE(code == ErrorCode::kBadFile || code == ErrorCode::kUnsupported) << at;
      const auto found = read_cache_head(path_, kKey, fake_shape());
      ASSERT_EQ(found.ok(), at >= head_end) << at;
    }
  }
  put(good);
  SequenceState state = fake_state();
  EXPECT_TRUE(read_cache_file(path_, kKey, "salt", head.ids, state).ok());
}

TEST_F(CacheFileTest, TruncatedAndLengthenedFilesAreRefused) {
  const CacheFileHead head = head_of(5);
  const Bytes good = write(head);
  for (size_t size = 0; size < good.size(); ++size) {
    put(Bytes(good.begin(), good.begin() + static_cast<int64_t>(size)));
    ASSERT_EQ(read_error(head), ErrorCode::kBadFile) << size;
    const auto found = read_cache_head(path_, kKey, fake_shape());
    ASSERT_FALSE(found.ok()) << size;
    ASSERT_EQ(found.error().code, ErrorCode::kBadFile) << size;
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  put(longer);
  EXPECT_EQ(read_error(head), ErrorCode::kBadFile);
}

TEST_F(CacheFileTest, FilesForSomethingElseAreForeign) {
  const CacheFileHead head = head_of(9);
  write(head);
  CacheFileHead other = head;
  other.ids[4] = 99;  // a name is a hash: the ids are compared
  EXPECT_EQ(read_error(other), ErrorCode::kUnsupported);
  other = head;
  other.salt = "tlas";
  EXPECT_EQ(read_error(other), ErrorCode::kUnsupported);
  other = head;
  other.key = "backend=cpu weights=abd";
  EXPECT_EQ(read_error(other), ErrorCode::kUnsupported);
  StateShape wider = fake_shape();
  wider.conv_floats += 1;
  const auto found = read_cache_head(path_, kKey, wider);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kUnsupported);
}

// Right hashes over a value that no run leaves behind.
TEST_F(CacheFileTest, ValuesThatAreNotFiniteAreRefused) {
  const CacheFileHead head = head_of(3);
  const Bytes good = write(head);
  const size_t state_begin = good.size() - 16 - stored_bytes(fake_shape(), 3);
  for (const size_t at : {state_begin + 72, good.size() - 18}) {
    Bytes bad = good;
    bad[at + 1] = std::byte{0x7f};  // bf16 infinity; with the bytes before it a float32 NaN
    bad[at] = std::byte{0x80};
    if (at == state_begin + 72) {
      bad[at + 3] = std::byte{0x7f};
      bad[at + 2] = std::byte{0x80};
    }
    const Hash128 hash = hash128(std::span(bad).first(bad.size() - 16));
    std::memcpy(bad.data() + bad.size() - 16, &hash, 16);
    put(bad);
    EXPECT_EQ(read_error(head), ErrorCode::kBadFile) << at;
  }
}

TEST_F(CacheFileTest, WhatIsNoRegularFileIsNotOpened) {
  const CacheFileHead head = head_of(3);
  EXPECT_EQ(read_error(head), ErrorCode::kNotFound);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(read_error(head), ErrorCode::kUnsupported);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_EQ(read_error(head), ErrorCode::kUnsupported);
}

TEST(CacheFileName, DependsOnKeySaltAndIds) {
  const std::vector<int32_t> ids = {1, 2, 3}, others = {1, 2};
  const std::string name = cache_file_name("ab", "c", ids);
  EXPECT_EQ(name.size(), 38u);
  EXPECT_NE(name, cache_file_name("a", "bc", ids));
  EXPECT_NE(name, cache_file_name("ab", "d", ids));
  EXPECT_NE(name, cache_file_name("ab", "c", others));
}

}  // namespace
}  // namespace lockstep
