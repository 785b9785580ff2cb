// What a cache directory holds, as the file system tells it: nothing is read. All of these bear
// with other processes that write and delete at the same time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace lockstep {

// DIRECTORY/32 digits/32 digits.state: other names are not ours.
struct StoredFile {
  std::filesystem::path path;
  uint64_t bytes = 0;
  std::filesystem::file_time_type last_use;
};

// For the user alone, unless it exists.
Status make_private_folder(const std::filesystem::path& folder);

// States in one folder, and in all folders of a directory. What cannot be read is left out.
std::vector<StoredFile> list_folder(const std::filesystem::path& folder);
std::vector<StoredFile> list_states(const std::filesystem::path& directory);

// Whether a folder of `directory` other than `own` has states.
bool has_states_elsewhere(const std::filesystem::path& directory, const std::filesystem::path& own);

// A name next to `path` that no other process or thread uses.
std::filesystem::path partial_path(const std::filesystem::path& path);

// Deletes partial files that nobody has written to for ten minutes.
void remove_stale_partials(const std::filesystem::path& folder);

// Marks a file as used now. False: it is not there.
bool touch_file(const std::filesystem::path& path);

}  // namespace lockstep
