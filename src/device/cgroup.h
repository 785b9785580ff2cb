// Finds the control groups of this process.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace lockstep {

enum class CgroupVersion { kV1, kV2 };

// Folders of the groups that hold this process and have the controller ("cpu", "memory"), from its
// own to the outermost that can be seen. v1: the controller's own tree; v2: the unified tree.
std::vector<std::filesystem::path> cgroup_folders(const std::filesystem::path& root,
                                                  CgroupVersion version,
                                                  std::string_view controller);

}  // namespace lockstep
