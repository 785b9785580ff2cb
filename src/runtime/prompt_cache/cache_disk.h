// The directory of a prompt cache: states of several checkpoints, keys and processes under one
// budget. Each checkpoint and precision tuple has a folder in it, named by a hash of the key.
//
// Writing, scanning for files of other processes and deleting are a thread's own work; load() is
// the caller's. Files appear under their name only when whole (NAME.partial, then renamed), for the
// user alone (mode 0600). Whatever in the folder has a name of ours and breaks the format is
// deleted and counted; other names are left alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/sequence_state.h"
#include "runtime/prompt_cache/cache_file.h"

namespace lockstep {

struct CacheDiskOptions {
  std::filesystem::path directory;           // made if it is not there
  uint64_t bytes = 0;                        // of all files in it; the least recently used go first
  std::string key;                           // precision tuple and content hash of the checkpoint
  uint64_t queue_bytes = uint64_t{1} << 30;  // states waiting to be written; more are not written
  // For tests: called on the cache's thread before each write.
  std::function<void()> before_write = nullptr;
};

struct CacheDiskCounts {
  int64_t written = 0;
  int64_t deleted = 0;     // for the budget
  int64_t damaged = 0;     // truncated files among them
  int64_t foreign = 0;     // of another key, shape or format under a name of ours
  int64_t dropped = 0;     // not written: the queue or the budget had no room
  int64_t failures = 0;    // of the operating system
  std::string last_fault;  // the last of the four, a sentence
};

// A file that has come, with its head, or gone.
struct CacheDiskNews {
  std::string file;
  std::optional<CacheFileHead> head;
};

class CacheDisk {
 public:
  // Looks at what is there before it returns. Errors: the directory cannot be made or read.
  static Result<std::unique_ptr<CacheDisk>> open(const CacheDiskOptions& options,
                                                 const StateShape& shape);
  ~CacheDisk();

  // Whether the directory holds states of other checkpoints or precision tuples.
  bool others() const { return others_; }

  // Since it was last asked, in order.
  std::vector<CacheDiskNews> take_news();

  // Waits for room in the queue only if told to. The state stays alive until the cache's thread
  // asks for news after the write: no page is freed on another thread than the one that uses it.
  void write(CacheFileHead head, std::shared_ptr<const SequenceState> state, bool wait);

  // A state was used: its file lives longer.
  void touch(const std::string& name);

  // Reads a file now. A refused one is counted and deleted.
  Status load(const std::string& name, std::string_view salt, std::span<const int32_t> ids,
              SequenceState& state);

  // Waits until all that was given is done and the folder was looked at again.
  void flush();

  CacheDiskCounts counts() const;

 private:
  struct WriteJob {
    CacheFileHead head;
    std::shared_ptr<const SequenceState> state;
    uint64_t bytes = 0;
  };
  struct TouchJob {
    std::string name;
  };
  using Job = std::variant<WriteJob, TouchJob>;

  CacheDisk(const CacheDiskOptions& options, const StateShape& shape);

  void work();
  template <typename Work>
  void guarded(const Work& work);
  void run(const Job& job);
  void write_file(const WriteJob& job);
  bool make_room(uint64_t bytes);
  void scan();
  void look_at(const std::string& name);
  void refuse(const std::string& name, const Error& error);
  void fail(const std::string& message);

  const CacheDiskOptions options_;
  const StateShape shape_;
  const std::filesystem::path folder_;
  bool others_ = false;
  std::set<std::string> known_;  // the thread's own: names seen in the folder

  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<Job> jobs_;
  uint64_t queued_bytes_ = 0;
  uint64_t rounds_done_ = 0;  // scans that began with an empty queue
  uint64_t rounds_wanted_ = 0;
  bool stop_ = false;
  std::vector<CacheDiskNews> news_;
  std::vector<std::shared_ptr<const SequenceState>> written_;  // freed by take_news
  CacheDiskCounts counts_;
  std::thread thread_;
};

}  // namespace lockstep
