#include "runtime/prompt_cache/cache_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".state";
constexpr std::string_view kPartial = ".partial";

bool is_hash(std::string_view text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_state_name(std::string_view name) {
  return name.ends_with(kSuffix) && is_hash(name.substr(0, name.size() - kSuffix.size()));
}

template <typename Visit>
void for_each_in(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    visit(*at);
  }
}

std::vector<fs::path> folders_of(const fs::path& directory) {
  std::vector<fs::path> folders;
  for_each_in(directory, [&](const fs::directory_entry& entry) {
    std::error_code error;
    const bool folder = entry.symlink_status(error).type() == fs::file_type::directory;
    if (folder && is_hash(entry.path().filename().string())) folders.push_back(entry.path());
  });
  return folders;
}

}  // namespace

Status make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno == EEXIST && fs::is_directory(folder, error)) return {};
  return Error{ErrorCode::kIo, fmt::format("cannot make the cache folder {}: {}", folder.string(),
                                           std::strerror(errno))};
}

std::vector<StoredFile> list_folder(const fs::path& folder) {
  std::vector<StoredFile> files;
  for_each_in(folder, [&](const fs::directory_entry& entry) {
    if (!is_state_name(entry.path().filename().string())) return;
    std::error_code missing, untimed;
    const bool regular = entry.symlink_status(missing).type() == fs::file_type::regular;
    const uint64_t bytes = regular ? entry.file_size(missing) : 0;
    const auto time = regular ? entry.last_write_time(untimed) : fs::file_time_type::min();
    if (!missing && !untimed) files.push_back({entry.path(), bytes, time});
  });
  return files;
}

std::vector<StoredFile> list_states(const fs::path& directory) {
  std::vector<StoredFile> files;
  for (const fs::path& folder : folders_of(directory)) {
    for (StoredFile& file : list_folder(folder)) files.push_back(std::move(file));
  }
  return files;
}

bool has_states_elsewhere(const fs::path& directory, const fs::path& own) {
  const std::vector<fs::path> folders = folders_of(directory);
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    return folder.filename() != own.filename() && !list_folder(folder).empty();
  });
}

fs::path partial_path(const fs::path& path) {
  static std::atomic<uint64_t> number = 0;
  return fmt::format("{}.{}-{}{}", path.string(), getpid(), ++number, kPartial);
}

void remove_stale_partials(const fs::path& folder) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(10);
  for_each_in(folder, [&](const fs::directory_entry& entry) {
    std::error_code error;
    const bool partial = entry.path().filename().string().ends_with(kPartial) &&
                         is_hash(entry.path().filename().string().substr(0, 32));
    if (!partial) return;
    const auto time = entry.last_write_time(error);
    if (!error && time < old) fs::remove(entry.path(), error);
  });
}

bool touch_file(const fs::path& path) {
  return utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace lockstep
