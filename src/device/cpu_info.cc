#include "device/cpu_info.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <thread>
#include <vector>

#include "device/cgroup.h"

namespace lockstep {
namespace {

constexpr int kMaxCpus = 4096;

int affinity_cpus() {
  cpu_set_t* set = CPU_ALLOC(kMaxCpus);
  if (set == nullptr) return 1;
  const size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
  CPU_ZERO_S(bytes, set);
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, bytes, set) == 0) count = CPU_COUNT_S(bytes, set);
  CPU_FREE(set);
  return std::max(1, count);
}

// "MemAvailable:    1234 kB" and "model name\t: AMD ...": what follows the colon.
std::string field_of(const std::filesystem::path& file, std::string_view name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(name)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

}  // namespace

int usable_cpus() {
  const int affinity = affinity_cpus();
  const std::optional<double> quota = read_cgroup_limits().cpus;
  if (!quota || *quota >= affinity) return affinity;
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

std::optional<uint64_t> available_memory(const std::filesystem::path& root) {
  std::optional<uint64_t> available = read_cgroup_limits(root).memory_available;
  const std::string text = field_of(root / "proc/meminfo", "MemAvailable");
  uint64_t kib = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), kib).ec == std::errc()) {
    available = std::min(available.value_or(UINT64_MAX), kib * 1024);
  }
  return available;
}

std::string cpu_name(const std::filesystem::path& root) {
  return field_of(root / "proc/cpuinfo", "model name");
}

}  // namespace lockstep
