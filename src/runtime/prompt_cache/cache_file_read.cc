// Reading cache files from a directory that others can write to.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "runtime/prompt_cache/cache_file.h"
#include "runtime/prompt_cache/file_descriptor.h"

namespace lockstep {
namespace {

// A head is at most this long unless it has many ids: one read is enough for most.
constexpr size_t kFirstRead = size_t{64} << 10;

struct OpenFile {
  FileDescriptor descriptor;
  uint64_t bytes = 0;
};

Error failed(const std::filesystem::path& path) {
  return {errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          fmt::format("{}: {}", path.string(), std::strerror(errno))};
}

// A link, a pipe or a directory in a cache is none of ours.
Result<OpenFile> open_regular(const std::filesystem::path& path) {
  OpenFile file{FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
                0};
  const bool link = !file.descriptor.ok() && errno == ELOOP;
  if (!file.descriptor.ok() && !link) return failed(path);
  struct stat info{};
  if (!link && fstat(file.descriptor.get(), &info) != 0) return failed(path);
  if (link || !S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kUnsupported, path.string() + " is no regular file"};
  }
  file.bytes = static_cast<uint64_t>(info.st_size);
  return file;
}

// The first `count` bytes, fewer if the file is shorter.
Result<std::vector<std::byte>> read_start(const OpenFile& file, const std::filesystem::path& path,
                                          uint64_t count) {
  try {
    std::vector<std::byte> bytes(std::min(count, file.bytes));
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = pread(file.descriptor.get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed(path);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "no memory to read " + path.string()};
  }
}

}  // namespace

Result<CacheFileHead> read_cache_head(const std::filesystem::path& path, std::string_view key,
                                      const StateShape& shape) {
  LOCKSTEP_ASSIGN_OR_RETURN(const OpenFile file, open_regular(path));
  LOCKSTEP_ASSIGN_OR_RETURN(std::vector<std::byte> start, read_start(file, path, kFirstRead));
  LOCKSTEP_ASSIGN_OR_RETURN(const uint64_t head_bytes, cache_head_bytes(start, file.bytes));
  if (head_bytes > start.size()) {
    LOCKSTEP_ASSIGN_OR_RETURN(start, read_start(file, path, head_bytes));
  }
  return parse_cache_head(start, file.bytes, key, shape);
}

Status read_cache_file(const std::filesystem::path& path, std::string_view key,
                       std::string_view salt, std::span<const int32_t> ids, SequenceState& state) {
  LOCKSTEP_ASSIGN_OR_RETURN(const OpenFile file, open_regular(path));
  const CacheFileHead expected{std::string(key), std::string(salt), {}, {ids.begin(), ids.end()}};
  const uint64_t wanted = cache_file_bytes(expected, state.shape());
  if (file.bytes != wanted) {
    return Error{ErrorCode::kBadFile, fmt::format("{} has {} bytes; it must have {}", path.string(),
                                                  file.bytes, wanted)};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_start(file, path, file.bytes));
  return parse_cache_file(bytes, key, salt, ids, state);
}

}  // namespace lockstep
