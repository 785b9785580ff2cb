// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"

namespace lockstep {

// Only regular, non-empty files: a directory, device, socket or FIFO is refused by name and never
// waited for. The bytes stay at one address when the object moves. A file that others shorten or
// write to while it is mapped harms nobody: mapping_guard.h tells of it.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

  // Reads the pages of bytes() [begin, begin + size) in, so that later accesses do not wait for the
  // disk. A read error is reported here where the system can tell us.
  Status load(size_t begin, size_t size) const;

 private:
  MappedFile(std::span<const std::byte> bytes, std::string path)
      : bytes_(bytes), path_(std::move(path)) {}
  void unmap();

  std::span<const std::byte> bytes_;
  std::string path_;
};

// False also where the answer is unknown: opening the path says why.
bool file_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// The whole of a small text file (config.json and the like), at most `max_bytes`.
Result<std::string> read_text_file(const std::filesystem::path& path, size_t max_bytes);

}  // namespace lockstep
