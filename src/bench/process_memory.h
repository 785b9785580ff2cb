// What this process keeps in memory, as the kernel counts it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lockstep::bench {

// Bytes in memory now. Mapped pages belong to files, such as checkpoints, and can be dropped.
struct ProcessMemory {
  uint64_t anonymous = 0;
  uint64_t mapped = 0;
};

// Absent where the system does not say. `status` may be another file for tests.
std::optional<ProcessMemory> process_memory(
    const std::filesystem::path& status = "/proc/self/status");

}  // namespace lockstep::bench
