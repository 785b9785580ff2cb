// What this process may use of the machine: processors and memory, as affinity and control groups
// leave them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// Limits of the control groups (v1 and v2) around this process, the tightest of the whole chain.
struct CgroupLimits {
  std::optional<double> cpus;                // quota over period
  std::optional<uint64_t> memory_bytes;      // limit of the group with the least left
  std::optional<uint64_t> memory_available;  // bytes left in it, reclaimable file pages included
};

// Files are looked up below `root`, so that tests can bring their own.
CgroupLimits read_cgroup_limits(const std::filesystem::path& root = "/");

// Threads worth starting: processors in the affinity mask, no more than the quota rounded up.
int usable_cpus();

// Bytes that can be allocated now without swapping: MemAvailable of /proc/meminfo, no more than the
// control groups leave. Absent where the system does not say.
std::optional<uint64_t> available_memory(const std::filesystem::path& root = "/");

// "AMD EPYC 7763 64-Core Processor"; empty where the system does not say.
std::string cpu_name(const std::filesystem::path& root = "/");

}  // namespace lockstep
