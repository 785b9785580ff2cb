#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

#include "device/cgroup.h"
#include "device/cpu_info.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Above it a v1 limit means "none".
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

// The number at the start of a file; nothing if there is none ("max").
template <typename T>
std::optional<T> read_number(const fs::path& file) {
  std::ifstream stream(file);
  T value{};
  if (stream >> value) return value;
  return std::nullopt;
}

// Bytes of files that a group holds in memory and the system takes back when it needs them: a model
// read in by an earlier run is among them. `prefix` is "" in v2, "total_" in v1.
uint64_t reclaimable_bytes(const fs::path& memory_stat, const std::string& prefix) {
  std::ifstream stream(memory_stat);
  std::string key;
  uint64_t value = 0, sum = 0;
  while (stream >> key >> value) {
    if (key == prefix + "inactive_file" || key == prefix + "active_file") sum += value;
  }
  return sum;
}

void keep_least(std::optional<double>& least, double value) {
  least = std::min(least.value_or(value), value);
}

void add_cpu_v2(const fs::path& folder, CgroupLimits& limits) {
  std::ifstream stream(folder / "cpu.max");
  double quota = 0.0, period = 0.0;
  if (stream >> quota >> period && period > 0.0) keep_least(limits.cpus, quota / period);
}

void add_cpu_v1(const fs::path& folder, CgroupLimits& limits) {
  const auto quota = read_number<int64_t>(folder / "cpu.cfs_quota_us");
  const auto period = read_number<int64_t>(folder / "cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0) {
    keep_least(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
  }
}

void add_memory(std::optional<uint64_t> limit, std::optional<uint64_t> used, uint64_t reclaimable,
                CgroupLimits& limits) {
  if (!limit || !used || *limit >= kNoLimit) return;
  const uint64_t held = *used - std::min(*used, reclaimable);
  const uint64_t left = *limit - std::min(*limit, held);
  if (limits.memory_available && *limits.memory_available <= left) return;
  limits.memory_bytes = limit;
  limits.memory_available = left;
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  for (const fs::path& folder : cgroup_folders(root, CgroupVersion::kV2, "cpu")) {
    add_cpu_v2(folder, limits);
    add_memory(read_number<uint64_t>(folder / "memory.max"),
               read_number<uint64_t>(folder / "memory.current"),
               reclaimable_bytes(folder / "memory.stat", ""), limits);
  }
  for (const fs::path& folder : cgroup_folders(root, CgroupVersion::kV1, "cpu")) {
    add_cpu_v1(folder, limits);
  }
  for (const fs::path& folder : cgroup_folders(root, CgroupVersion::kV1, "memory")) {
    add_memory(read_number<uint64_t>(folder / "memory.limit_in_bytes"),
               read_number<uint64_t>(folder / "memory.usage_in_bytes"),
               reclaimable_bytes(folder / "memory.stat", "total_"), limits);
  }
  return limits;
}

}  // namespace lockstep
