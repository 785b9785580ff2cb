#include "checkpoint/mapping_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>

#include "base/check.h"

namespace lockstep {
namespace {

// What a file looked like.
struct Stamp {
  int64_t bytes = 0;
  int64_t seconds = 0;  // of the last change
  int64_t nanoseconds = 0;
  bool operator==(const Stamp&) const = default;
};

// The atomic part is read by the handler, so: no lock, no allocation. An end of 0 is a free slot.
struct Watched {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> broken{false};
  int descriptor = -1;
  Stamp stamp;
};
std::array<Watched, 4096> watched;
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

std::mutex slots_mutex;
struct sigaction action_before;
uintptr_t page_bytes = 4096;

Watched* find(uintptr_t address) {
  for (Watched& slot : watched) {
    if (address >= slot.begin && address < slot.end) return &slot;
  }
  return nullptr;
}

// All pages from the missing one to the end: a shortened file has no later ones either.
bool map_zeros(const Watched& slot, uintptr_t address) {
  const uintptr_t first = address & ~(page_bytes - 1);
  void* at = reinterpret_cast<void*>(first);
  return mmap(at, slot.end - first, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
         at;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int errno_before = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Watched* slot = info->si_code == BUS_ADRERR ? find(address) : nullptr;
  const bool mapped = slot != nullptr && map_zeros(*slot, address);
  if (mapped) slot->broken = true;
  errno = errno_before;
  if (mapped) return;
  if ((action_before.sa_flags & SA_SIGINFO) != 0) {
    return action_before.sa_sigaction(number, info, context);
  }
  if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN) {
    return action_before.sa_handler(number);
  }
  sigaction(SIGBUS, &action_before, nullptr);
  raise(number);  // comes when this returns
}

void install_handler() {
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &action_before);
}

Result<Stamp> stamp_of(int descriptor, const std::string& path) {
  struct stat info = {};
  if (fstat(descriptor, &info) != 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: {}", path, std::generic_category().message(errno))};
  }
  return Stamp{info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

uintptr_t address_of(std::span<const std::byte> mapping) {
  return reinterpret_cast<uintptr_t>(mapping.data());
}

Watched* free_slot() {
  for (Watched& slot : watched) {
    if (slot.end == 0) return &slot;
  }
  return nullptr;
}

}  // namespace

Status watch_mapping(std::span<const std::byte> mapping, int descriptor, const std::string& path) {
  static std::once_flag installed;
  std::call_once(installed, install_handler);
  LOCKSTEP_ASSIGN_OR_RETURN(const Stamp stamp, stamp_of(descriptor, path));
  const std::lock_guard<std::mutex> lock(slots_mutex);
  Watched* slot = free_slot();
  const int own = slot != nullptr ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1;
  if (own < 0) return Error{ErrorCode::kIo, fmt::format("{}: too many files are in use", path)};
  slot->descriptor = own;
  slot->stamp = stamp;
  slot->broken = false;
  slot->begin = address_of(mapping);
  slot->end = address_of(mapping) + mapping.size();
  return {};
}

void forget_mapping(std::span<const std::byte> mapping) {
  const std::lock_guard<std::mutex> lock(slots_mutex);
  Watched* slot = find(address_of(mapping));
  if (slot == nullptr) return;
  slot->end = 0;
  close(slot->descriptor);
}

Status check_mapping(std::span<const std::byte> mapping, const std::string& path) {
  const Watched* slot = find(address_of(mapping));
  LOCKSTEP_CHECK(slot != nullptr, "not a watched mapping");
  LOCKSTEP_ASSIGN_OR_RETURN(const Stamp now, stamp_of(slot->descriptor, path));
  if (now == slot->stamp && !slot->broken) return {};
  const std::string how =
      now.bytes != slot->stamp.bytes
          ? fmt::format("from {} to {} bytes", slot->stamp.bytes, now.bytes)
          : std::string(slot->broken ? "and parts of it cannot be read" : "in its contents");
  return Error{
      ErrorCode::kIo,
      fmt::format("{}: the file changed while it was in use, {}; load the model again", path, how)};
}

}  // namespace lockstep
