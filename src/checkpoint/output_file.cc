#include "checkpoint/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace lockstep {
namespace {

Error system_error(const std::string& what, int number) {
  return {ErrorCode::kIo, fmt::format("{}: {}", what, std::generic_category().message(number))};
}

// Reserves disk space where the file system can; elsewhere the file is only given its size.
int reserve(int descriptor, uint64_t bytes) {
  const auto size = static_cast<off_t>(bytes);
#if defined(__linux__)
  if (bytes == 0 || fallocate(descriptor, 0, 0, size) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
#endif
  return ftruncate(descriptor, size) == 0 ? 0 : errno;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& target, uint64_t bytes) {
  const std::string path = target.string();
  struct stat found = {};
  if (lstat(path.c_str(), &found) == 0) {
    return Error{ErrorCode::kIo, fmt::format("{} exists already; nothing is overwritten", path)};
  }
  // O_EXCL: neither a file of the user's nor what a link names is ever written to.
  const int descriptor =
      open((path + ".partial").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}.partial exists already, perhaps left over from an interrupted "
                             "write: remove it first",
                             path)};
  }
  if (descriptor < 0) return system_error(fmt::format("cannot create {}.partial", path), errno);
  OutputFile file(path, descriptor);
  if (const int number = reserve(descriptor, bytes); number != 0) {
    return system_error(fmt::format("cannot reserve {} bytes for {}", bytes, path), number);
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(partial_path().c_str());
}

Status OutputFile::write(uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return system_error(fmt::format("cannot write {}", partial_path()), errno);
    }
    offset += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status OutputFile::publish(bool durable) {
  if (durable && fsync(descriptor_) != 0) {
    return system_error(fmt::format("cannot flush {} to disk", partial_path()), errno);
  }
  if (rename(partial_path().c_str(), path_.c_str()) != 0) {
    return system_error(fmt::format("cannot rename {} to {}", partial_path(), path_), errno);
  }
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0) return system_error(fmt::format("cannot close {}", path_), errno);
  return {};
}

Status write_text_file(const std::filesystem::path& path, std::string_view text, bool durable) {
  LOCKSTEP_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, text.size()));
  LOCKSTEP_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(text))));
  return file.publish(durable);
}

}  // namespace lockstep
