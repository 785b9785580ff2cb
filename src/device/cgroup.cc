#include "device/cgroup.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// True if `list` ("cpu,cpuacct") has the item.
bool lists(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == item) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

// The group's path in its hierarchy, from a line "4:memory:/user.slice" (v1) or "0::/user.slice".
std::optional<std::string> group_path(const fs::path& root, CgroupVersion version,
                                      std::string_view controller) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const bool found =
        version == CgroupVersion::kV2 ? line.starts_with("0::") : lists(controllers, controller);
    if (found) return line.substr(second + 1);
  }
  return std::nullopt;
}

struct Mount {
  std::string group;  // the part of the hierarchy that is mounted
  std::string point;  // where
};

// A line of mountinfo: id parent major:minor group point options ... - type source superoptions
std::optional<Mount> find_mount(const fs::path& root, CgroupVersion version,
                                std::string_view controller) {
  std::ifstream stream(root / "proc/self/mountinfo");
  for (std::string line; std::getline(stream, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream head(line.substr(0, dash));
    std::istringstream tail(line.substr(dash + 3));
    std::string skipped, type, source, options;
    Mount mount;
    head >> skipped >> skipped >> skipped >> mount.group >> mount.point;
    tail >> type >> source >> options;
    const bool found = version == CgroupVersion::kV2
                           ? type == "cgroup2"
                           : type == "cgroup" && lists(options, controller);
    if (found) return mount;
  }
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> cgroup_folders(const fs::path& root, CgroupVersion version,
                                     std::string_view controller) {
  const std::optional<std::string> path = group_path(root, version, controller);
  const std::optional<Mount> mount = find_mount(root, version, controller);
  if (!path || !mount) return {};
  // In a container the path may be the host's, whose folders are not there: the mount stands for
  // it.
  fs::path below = fs::path(*path).lexically_relative(mount->group);
  if (below.empty() || *below.begin() == "..") below = ".";
  const fs::path top = root / fs::path(mount->point).relative_path();
  std::vector<fs::path> folders;
  for (fs::path group = below.lexically_normal(); group != "." && !group.empty();
       group = group.parent_path()) {
    if (fs::is_directory(top / group)) folders.push_back(top / group);
  }
  folders.push_back(top);
  return folders;
}

}  // namespace lockstep
