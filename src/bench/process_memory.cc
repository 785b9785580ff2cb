#include "bench/process_memory.h"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace lockstep::bench {
namespace {

// The number of a line "RssAnon:     1234 kB" in bytes, if the line is that of `label`.
std::optional<uint64_t> value_of(std::string_view line, std::string_view label) {
  if (!line.starts_with(label)) return std::nullopt;
  line.remove_prefix(label.size());
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  uint64_t kibibytes = 0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), kibibytes);
  if (parsed.ec != std::errc()) return std::nullopt;
  return kibibytes * 1024;
}

}  // namespace

std::optional<ProcessMemory> process_memory(const std::filesystem::path& status) {
  std::ifstream file(status);
  std::optional<uint64_t> anonymous, mapped;
  for (std::string line; std::getline(file, line);) {
    if (const auto value = value_of(line, "RssAnon:")) anonymous = value;
    if (const auto value = value_of(line, "RssFile:")) mapped = value;
  }
  if (!anonymous || !mapped) return std::nullopt;
  return ProcessMemory{.anonymous = *anonymous, .mapped = *mapped};
}

}  // namespace lockstep::bench
