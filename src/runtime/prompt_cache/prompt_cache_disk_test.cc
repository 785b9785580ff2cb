#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <future>
#include <numeric>
#include <random>

#include "checkpoint/testing/temporary_folder.h"
#include "runtime/prompt_cache/cache_folder.h"
#include "runtime/prompt_cache/fake_model_test.h"
#include "runtime/prompt_cache/prompt_cache.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

Ids count_from(int32_t first, size_t length) {
  Ids ids(length);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Ids longer(Ids ids) {
  ids.push_back(-1);
  return ids;
}

const uint64_t kState = fake_shape().page_bytes() + fake_shape().recurrent_floats() * sizeof(float);
// A file of 20 ids, key "k", no salt.
const uint64_t kFile = cache_file_bytes({"k", "", {}, Ids(20)}, fake_shape());

class PromptCacheDisk : public testing::Test {
 protected:
  std::unique_ptr<PromptCache> open(uint64_t disk_bytes = 1 << 30, uint64_t memory = 1 << 30,
                                    const std::string& key = "k") {
    const CacheDiskOptions disk{
        .directory = folder_.path() / "cache", .bytes = disk_bytes, .key = key};
    return PromptCache::open({.memory_bytes = memory, .min_tokens = 4, .disk = disk}, fake_state)
        .value();
  }

  std::vector<StoredFile> files() const { return list_states(folder_.path() / "cache"); }

  static void save(PromptCache& cache, const Ids& ids, std::string_view salt = "") {
    cache.save(ids, salt, SaveKind::kReplyEnd, state_after(ids));
  }

  TemporaryFolder folder_;
};

TEST_F(PromptCacheDisk, ARestartFindsEveryStateAsItWas) {
  const std::vector<Ids> saved = {count_from(0, 20), count_from(0, 64), count_from(0, 65),
                                  count_from(500, 130)};
  {
    const auto cache = open();
    for (const Ids& ids : saved) save(*cache, ids, "s");
    EXPECT_EQ(cache->counts().disk.written, 0) << "what is in memory is written at the end";
  }
  EXPECT_EQ(files().size(), 4u);
  const auto cache = open();
  EXPECT_EQ(cache->counts().states, 0);
  for (const Ids& ids : saved) {
    const CacheLookup lookup = cache->find(longer(ids), "s");
    ASSERT_EQ(lookup.length, static_cast<int64_t>(ids.size()));
    EXPECT_TRUE(lookup.from_disk);
    EXPECT_EQ(lookup.kind, SaveKind::kReplyEnd);
    EXPECT_EQ(bytes_of(*lookup.state), bytes_of(state_after(ids)));
    EXPECT_FALSE(cache->find(longer(ids), "s").from_disk) << "it stays in memory";
    EXPECT_EQ(cache->find(longer(ids), "t").reason, MissReason::kOtherSalt);
  }
}

TEST_F(PromptCacheDisk, WhatMemoryGivesUpComesBackFromDisk) {
  const auto cache = open(1 << 30, 2 * kState);
  for (int32_t i = 0; i < 6; ++i) save(*cache, count_from(100 * i, 20));
  cache->flush();
  EXPECT_EQ(cache->counts().disk.written, 4);
  for (int32_t i = 0; i < 6; ++i) {
    const Ids ids = count_from(100 * i, 20);
    const CacheLookup lookup = cache->find(longer(ids), "");
    ASSERT_EQ(lookup.length, 20) << i;
    EXPECT_EQ(bytes_of(*lookup.state), bytes_of(state_after(ids)));
    cache->flush();
    EXPECT_LE(cache->counts().bytes, 2 * kState);
  }
}

TEST_F(PromptCacheDisk, ADamagedTruncatedOrForeignFileIsRefusedRemovedAndCounted) {
  const Ids ids = count_from(0, 20), shorter = count_from(0, 10);
  {
    save(*open(), ids);
  }
  const fs::path path = files()[0].path;
  const auto write_over = [&](int64_t at, char byte) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at, at < 0 ? std::ios::end : std::ios::beg);
    file.put(byte);
  };
  const auto expect_refused = [&](int64_t damaged, int64_t foreign) {
    const auto cache = open();
    const CacheLookup lookup = cache->find(longer(ids), "");
    EXPECT_EQ(lookup.state, nullptr);
    const CacheDiskCounts counts = cache->counts().disk;
    EXPECT_EQ(counts.damaged, damaged);
    EXPECT_EQ(counts.foreign, foreign);
    EXPECT_FALSE(counts.last_fault.empty());
    EXPECT_FALSE(fs::exists(path));
    const auto reason = cache->find(longer(ids), "").reason;
    EXPECT_TRUE(reason == MissReason::kDamaged || reason == MissReason::kEmpty);
    save(*cache, ids);  // the next test's file
  };
  write_over(-30, '\x5a');  // in the state: seen when it is loaded
  expect_refused(1, 0);
  write_over(60, '\x5a');  // in the head: seen when the folder is
  expect_refused(1, 0);
  fs::resize_file(path, kFile - 1);
  expect_refused(1, 0);
  fs::resize_file(path, 0);
  expect_refused(1, 0);
  std::ofstream(path, std::ios::trunc) << std::string(500, 'x');
  expect_refused(0, 1);
  // A whole file under another state's name.
  {
    save(*open(), shorter);
  }
  for (const StoredFile& file : files()) {
    if (file.path != path) fs::rename(file.path, path);
  }
  expect_refused(0, 1);
}

// The damage is found while the prompt waits: a shorter state serves it.
TEST_F(PromptCacheDisk, AfterADamagedFileTheNextShorterStateServes) {
  {
    const auto cache = open();
    save(*cache, count_from(0, 20));
    save(*cache, count_from(0, 10));
  }
  for (const StoredFile& file : files()) {
    if (file.bytes != kFile) continue;
    std::fstream out(file.path, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(-40, std::ios::end);
    out.put('\x77');
  }
  const auto cache = open();
  const CacheLookup lookup = cache->find(count_from(0, 25), "");
  EXPECT_EQ(lookup.length, 10);
  EXPECT_EQ(lookup.reason, MissReason::kDamaged);
}

TEST_F(PromptCacheDisk, AnotherKeysStatesAreNeitherSeenNorHarmed) {
  const Ids ids = count_from(0, 20);
  {
    save(*open(1 << 30, 1 << 30, "int8"), ids);
  }
  {
    const auto cache = open(1 << 30, 1 << 30, "full");
    const CacheLookup lookup = cache->find(longer(ids), "");
    EXPECT_EQ(lookup.state, nullptr);
    EXPECT_EQ(lookup.reason, MissReason::kOtherPrecision);
  }
  EXPECT_EQ(open(1 << 30, 1 << 30, "int8")->find(longer(ids), "").length, 20);
}

TEST_F(PromptCacheDisk, TheBudgetHoldsAndTheLeastRecentlyUsedGoes) {
  const uint64_t budget = 4 * kFile + kFile / 2;
  const auto cache = open(budget, kState);
  for (int32_t i = 0; i < 10; ++i) {
    save(*cache, count_from(100 * i, 20));
    cache->flush();
    // The first one stays in use.
    if (i >= 1) {
      EXPECT_EQ(cache->find(longer(count_from(0, 20)), "").length, 20) << i;
    }
    cache->flush();
    uint64_t used = 0;
    for (const StoredFile& file : files()) used += file.bytes;
    EXPECT_LE(used, budget);
    usleep(15000);  // files tell their use by a clock that ticks so slowly
  }
  EXPECT_GE(files().size(), 4u);
  EXPECT_GT(cache->counts().disk.deleted, 3);
  EXPECT_EQ(cache->find(longer(count_from(200, 20)), "").reason, MissReason::kEvicted);
}

// The state stays in memory: only the use of it can keep its file.
TEST_F(PromptCacheDisk, AFileInUseOutlivesOthers) {
  const Ids used = count_from(0, 20);
  {
    save(*open(), used);
  }
  const fs::path path = files()[0].path;
  const auto cache = open(3 * kFile, 2 * kState);
  for (int32_t i = 1; i < 8; ++i) {
    usleep(15000);
    EXPECT_EQ(cache->find(longer(used), "").length, 20);
    save(*cache, count_from(100 * i, 20));
    cache->flush();
  }
  EXPECT_GT(cache->counts().disk.deleted, 2);
  EXPECT_TRUE(fs::exists(path));
}

// The disk stands still, so that the queue is full however the threads are scheduled.
TEST_F(PromptCacheDisk, AFullQueueDropsInsteadOfWaiting) {
  std::promise<void> go_on;
  const CacheDiskOptions disk{.directory = folder_.path() / "cache",
                              .bytes = 1 << 30,
                              .key = "k",
                              .queue_bytes = kFile,
                              .before_write = [wait = go_on.get_future().share()] { wait.wait(); }};
  {
    const auto cache =
        PromptCache::open({.memory_bytes = kState, .min_tokens = 4, .disk = disk}, fake_state)
            .value();
    for (int32_t i = 0; i < 20; ++i) save(*cache, count_from(100 * i, 20));
    const CacheDiskCounts counts = cache->counts().disk;
    EXPECT_EQ(counts.written, 0);
    // One is with the thread, one may wait.
    EXPECT_GE(counts.dropped, 17);
    go_on.set_value();
  }
  EXPECT_GE(files().size(), 1u);
}

TEST_F(PromptCacheDisk, OtherNamesAreLeftAlone) {
  {
    save(*open(), count_from(0, 20));
  }
  const fs::path folder = files()[0].path.parent_path();
  const std::string digits(32, 'a');
  for (const char* name : {"notes.txt", "x.state", "0123.state"}) {
    std::ofstream(folder / name) << "mine";
  }
  const fs::path fresh = folder / (digits + ".state.1-1.partial");
  const fs::path stale = folder / (digits + ".state.2-2.partial");
  for (const fs::path& path : {fresh, stale}) std::ofstream(path) << "half";
  fs::last_write_time(stale, fs::file_time_type::clock::now() - std::chrono::hours(1));
  {
    open(2 * kFile)->flush();
  }
  for (const char* name : {"notes.txt", "x.state", "0123.state"}) {
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  }
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(stale));
}

TEST_F(PromptCacheDisk, FilesAreForTheirUserAlone) {
  {
    save(*open(), count_from(0, 20));
  }
  struct stat info{};
  ASSERT_EQ(stat(files()[0].path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((folder_.path() / "cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0077, 0u);
}

TEST_F(PromptCacheDisk, WhatAnotherProcessSavesIsFound) {
  const auto a = open(1 << 30, kState), b = open();
  const Ids ids = count_from(0, 20);
  save(*a, ids);
  save(*a, count_from(100, 20));
  a->flush();
  b->flush();
  EXPECT_EQ(b->find(longer(ids), "").length, 20);
  fs::remove(files()[0].path);
  const auto c = open();
  c->flush();
  EXPECT_EQ(c->find(longer(ids), "").reason, MissReason::kEmpty);
}

TEST_F(PromptCacheDisk, WithoutMemoryForAStateTheFileStays) {
  const Ids ids = count_from(0, 70);
  {
    save(*open(), ids);
  }
  const CacheDiskOptions disk{.directory = folder_.path() / "cache", .bytes = 1 << 30, .key = "k"};
  auto pool = PagePool::make(fake_shape().page_bytes(), 2);
  const auto cache =
      PromptCache::open({.memory_bytes = 1 << 30, .min_tokens = 4, .disk = disk}, [&] {
        return SequenceState(fake_shape(), pool);
      }).value();
  {
    SequenceState busy(fake_shape(), pool);
    ASSERT_TRUE(busy.begin_round(1).ok());
    EXPECT_EQ(cache->find(longer(ids), "").reason, MissReason::kNoMemory);
  }
  EXPECT_EQ(cache->find(longer(ids), "").length, 70);
}

// Both write, read and delete under one small budget at the same time.
TEST_F(PromptCacheDisk, TwoProcessesShareADirectory) {
  const uint64_t budget = 6 * kFile;
  const auto churn = [&](uint64_t seed) {
    std::mt19937_64 engine(seed);
    const auto cache = open(budget, 2 * kState);
    for (int step = 0; step < 150; ++step) {
      const Ids ids = count_from(static_cast<int32_t>(engine() % 12) * 100, 20);
      const CacheLookup lookup = cache->find(longer(ids), "");
      if (lookup.state && bytes_of(*lookup.state) != bytes_of(state_after(ids))) return 1;
      if (!lookup.state) save(*cache, ids);
      if (engine() % 8 == 0) cache->flush();
    }
    const CacheDiskCounts counts = cache->counts().disk;
    return counts.damaged + counts.foreign + counts.failures == 0 ? 0 : 2;
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(churn(1));
  EXPECT_EQ(churn(2), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GT(files().size(), 2u);
}

TEST_F(PromptCacheDisk, AFolderThatCannotBeIsAnErrorByName) {
  std::ofstream(folder_.path() / "cache") << "a file";
  const CacheDiskOptions disk{.directory = folder_.path() / "cache", .bytes = 1 << 20, .key = "k"};
  const auto cache = PromptCache::open({.memory_bytes = 1, .disk = disk}, fake_state);
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().message.find("cache"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
