#include "kernels/launch_log.h"

#include <fmt/format.h>

#include <string_view>

#include "base/check.h"

namespace lockstep {

int64_t ShapeClass::at(const char* name) const {
  for (const Dim& dim : dims) {
    if (std::string_view(dim.first) == name) return dim.second;
  }
  LOCKSTEP_CHECK(false, fmt::format("{} has no dimension named {}", key(), name));
  return 0;
}

std::string ShapeClass::to_string() const {
  std::string text = op;
  if (!label.empty()) text += " [" + label + "]";
  for (const auto& [name, value] : dims) {
    if (name[0] != '.') text += fmt::format(" {}={}", name, value);
  }
  return text;
}

std::string ShapeClass::key() const {
  std::string text = op;
  for (const auto& [name, value] : dims) text += fmt::format(" {}={}", name, value);
  return text;
}

void LaunchLog::record(const char* kernel, const ShapeClass& shape) {
  const std::lock_guard lock(mutex_);
  Launch& launch = launches_[std::string(kernel) + " " + shape.key()];
  launch.kernel = kernel;
  launch.shape = shape;
  ++launch.count;
}

std::vector<LaunchLog::Launch> LaunchLog::launches() const {
  const std::lock_guard lock(mutex_);
  std::vector<Launch> all;
  for (const auto& [key, launch] : launches_) all.push_back(launch);
  return all;
}

}  // namespace lockstep
