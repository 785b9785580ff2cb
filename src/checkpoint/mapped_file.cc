#include "checkpoint/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "checkpoint/mapping_guard.h"

namespace lockstep {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string errno_text(int code) { return std::generic_category().message(code); }

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

// The size of a regular file.
Result<size_t> regular_size(const Descriptor& file, const std::string& path) {
  if (file.get() < 0) {
    const int code = errno;
    return Error{code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("{}: cannot be opened: {}", path, errno_text(code))};
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path, errno_text(errno))};
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: found {}, expected a file", path, kind_of(info.st_mode))};
  }
  return static_cast<size_t>(info.st_size);
}

// O_NONBLOCK: opening a FIFO must not wait for a writer.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), kOpenFlags));
  LOCKSTEP_ASSIGN_OR_RETURN(const size_t size, regular_size(file, path.string()));
  if (size == 0) {
    return Error{ErrorCode::kBadFile, fmt::format("{}: the file is empty", path.string())};
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    return Error{ErrorCode::kIo, fmt::format("{}: {} bytes cannot be mapped: {}", path.string(),
                                             size, errno_text(errno))};
  }
  MappedFile mapped({static_cast<const std::byte*>(address), size}, path.string());
  LOCKSTEP_RETURN_IF_ERROR(watch_mapping(mapped.bytes(), file.get(), path.string()));
  return mapped;
}

MappedFile::~MappedFile() { unmap(); }

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    bytes_ = std::exchange(other.bytes_, {});
    path_ = std::move(other.path_);
  }
  return *this;
}

void MappedFile::unmap() {
  if (bytes_.empty()) return;
  forget_mapping(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Status MappedFile::load(size_t begin, size_t size) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  begin = std::min(begin, bytes_.size());
  const size_t end = begin + std::min(size, bytes_.size() - begin);
  const size_t first = begin / page * page;
  if (first >= end) return {};
  void* address = const_cast<std::byte*>(bytes_.data()) + first;
#ifdef MADV_POPULATE_READ
  if (::madvise(address, end - first, MADV_POPULATE_READ) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) {
    return Error{ErrorCode::kIo, fmt::format("{}: reading failed near byte {}: {}", path_, begin,
                                             errno_text(errno))};
  }
#endif
  ::madvise(address, end - first, MADV_WILLNEED);
  for (size_t at = first; at < end; at += page) {
    static_cast<void>(*static_cast<const volatile std::byte*>(bytes_.data() + at));
  }
  return {};
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Result<std::string> read_text_file(const std::filesystem::path& path, size_t max_bytes) {
  const Descriptor file(::open(path.c_str(), kOpenFlags));
  LOCKSTEP_ASSIGN_OR_RETURN(const size_t size, regular_size(file, path.string()));
  if (size > max_bytes) {
    return Error{ErrorCode::kBadFile, fmt::format("{}: found {} bytes, expected at most {}",
                                                  path.string(), size, max_bytes)};
  }
  std::string text(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(file.get(), text.data() + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{ErrorCode::kIo, fmt::format("{}: {}", path.string(), errno_text(errno))};
    }
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace lockstep
