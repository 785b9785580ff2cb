#include "runtime/prompt_cache/cache_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/hash128.h"
#include "runtime/prompt_cache/cache_folder.h"
#include "runtime/prompt_cache/file_descriptor.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// How often files of other processes are looked for.
constexpr auto kScanInterval = std::chrono::seconds(1);

std::string folder_name(std::string_view key) {
  return hash128(std::as_bytes(std::span(key))).hex();
}

}  // namespace

CacheDisk::CacheDisk(const CacheDiskOptions& options, const StateShape& shape)
    : options_(options), shape_(shape), folder_(options.directory / folder_name(options.key)) {}

Result<std::unique_ptr<CacheDisk>> CacheDisk::open(const CacheDiskOptions& options,
                                                   const StateShape& shape) {
  std::unique_ptr<CacheDisk> disk(new CacheDisk(options, shape));
  LOCKSTEP_RETURN_IF_ERROR(make_private_folder(options.directory));
  LOCKSTEP_RETURN_IF_ERROR(make_private_folder(disk->folder_));
  remove_stale_partials(disk->folder_);
  disk->others_ = has_states_elsewhere(options.directory, disk->folder_);
  disk->scan();
  disk->thread_ = std::thread([self = disk.get()] { self->work(); });
  return disk;
}

CacheDisk::~CacheDisk() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<CacheDiskNews> CacheDisk::take_news() {
  std::vector<std::shared_ptr<const SequenceState>> written;
  const std::lock_guard lock(mutex_);
  written.swap(written_);
  return std::exchange(news_, {});
}

void CacheDisk::write(CacheFileHead head, std::shared_ptr<const SequenceState> state, bool wait) {
  const uint64_t bytes = cache_file_bytes(head, shape_);
  {
    std::unique_lock lock(mutex_);
    const auto has_room = [&] {
      return jobs_.empty() || queued_bytes_ + bytes <= options_.queue_bytes;
    };
    if (wait) idle_.wait(lock, has_room);
    if (bytes > options_.bytes || !has_room()) {
      ++counts_.dropped;
      return;
    }
    queued_bytes_ += bytes;
    jobs_.emplace_back(WriteJob{std::move(head), std::move(state), bytes});
  }
  wake_.notify_all();
}

void CacheDisk::touch(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.emplace_back(TouchJob{name});
  }
  wake_.notify_all();
}

Status CacheDisk::load(const std::string& name, std::string_view salt, std::span<const int32_t> ids,
                       SequenceState& state) {
  const Status status = read_cache_file(folder_ / name, options_.key, salt, ids, state);
  if (!status.ok()) refuse(name, status.error());
  return status;
}

void CacheDisk::flush() {
  std::unique_lock lock(mutex_);
  const uint64_t wanted = ++rounds_wanted_;
  wake_.notify_all();
  idle_.wait(lock, [&] { return rounds_done_ >= wanted; });
}

CacheDiskCounts CacheDisk::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

// No exception leaves the thread: what fails, no memory say, is counted.
template <typename Work>
void CacheDisk::guarded(const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void CacheDisk::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait_for(lock, kScanInterval,
                   [&] { return stop_ || !jobs_.empty() || rounds_wanted_ > rounds_done_; });
    if (!jobs_.empty()) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      guarded([&] { run(job); });
      lock.lock();
      if (auto* write = std::get_if<WriteJob>(&job)) {
        queued_bytes_ -= write->bytes;
        written_.push_back(std::move(write->state));
        idle_.notify_all();
      }
      continue;
    }
    if (stop_) return;
    const uint64_t wanted = rounds_wanted_;
    lock.unlock();
    guarded([&] { scan(); });
    lock.lock();
    rounds_done_ = wanted;
    idle_.notify_all();
  }
}

void CacheDisk::run(const Job& job) {
  if (const auto* touched = std::get_if<TouchJob>(&job)) {
    touch_file(folder_ / touched->name);
    return;
  }
  if (options_.before_write) options_.before_write();
  write_file(std::get<WriteJob>(job));
}

void CacheDisk::write_file(const WriteJob& job) {
  const std::string name = cache_file_name(job.head.key, job.head.salt, job.head.ids);
  const fs::path path = folder_ / name;
  if (known_.contains(name) && touch_file(path)) return;
  if (!make_room(job.bytes)) {
    const std::lock_guard lock(mutex_);
    ++counts_.dropped;
    return;
  }
  const fs::path partial = partial_path(path);
  const FileDescriptor file(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.ok()) return fail(fmt::format("{}: {}", partial.string(), std::strerror(errno)));
  const Status written = write_cache_file(file.get(), job.head, *job.state);
  const bool renamed = written.ok() && rename(partial.c_str(), path.c_str()) == 0;
  if (!renamed) {
    const std::string why = written.ok() ? std::strerror(errno) : written.error().message;
    unlink(partial.c_str());
    return fail(fmt::format("{}: {}", path.string(), why));
  }
  known_.insert(name);
  const std::lock_guard lock(mutex_);
  ++counts_.written;
  news_.push_back({name, job.head});
}

// Deletes the least recently used files of the whole directory until `bytes` more fit.
bool CacheDisk::make_room(uint64_t bytes) {
  if (bytes > options_.bytes) return false;
  std::vector<StoredFile> files = list_states(options_.directory);
  uint64_t used = 0;
  for (const StoredFile& file : files) used += file.bytes;
  std::ranges::sort(files, {}, &StoredFile::last_use);
  for (const StoredFile& file : files) {
    if (used + bytes <= options_.bytes) break;
    unlink(file.path.c_str());
    used -= file.bytes;
    const std::lock_guard lock(mutex_);
    ++counts_.deleted;
  }
  return used + bytes <= options_.bytes;
}

// Takes in files that others have written, and the loss of those that others have deleted.
void CacheDisk::scan() {
  std::set<std::string> present;
  for (const StoredFile& file : list_folder(folder_)) present.insert(file.path.filename().string());
  for (const std::string& name : present) {
    if (!known_.contains(name)) look_at(name);
  }
  std::vector<std::string> gone;
  std::ranges::set_difference(known_, present, std::back_inserter(gone));
  known_ = std::move(present);
  const std::lock_guard lock(mutex_);
  for (const std::string& name : gone) news_.push_back({name, std::nullopt});
}

void CacheDisk::look_at(const std::string& name) {
  auto head = read_cache_head(folder_ / name, options_.key, shape_);
  if (head.ok() && cache_file_name(head.value().key, head.value().salt, head.value().ids) != name) {
    head = Error{ErrorCode::kUnsupported, "a cache file under the name of another"};
  }
  if (!head.ok()) return refuse(name, head.error());
  const std::lock_guard lock(mutex_);
  news_.push_back({name, std::move(head).value()});
}

void CacheDisk::refuse(const std::string& name, const Error& error) {
  if (error.code == ErrorCode::kNotFound) return;  // another process was quicker
  const bool damaged = error.code == ErrorCode::kBadFile;
  const bool foreign = error.code == ErrorCode::kUnsupported;
  if (damaged || foreign) unlink((folder_ / name).c_str());
  const std::lock_guard lock(mutex_);
  ++(damaged ? counts_.damaged : foreign ? counts_.foreign : counts_.failures);
  counts_.last_fault = fmt::format("{}: {}", name, error.message);
}

void CacheDisk::fail(const std::string& message) {
  const std::lock_guard lock(mutex_);
  ++counts_.failures;
  counts_.last_fault = message;
}

}  // namespace lockstep
