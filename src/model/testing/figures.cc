#include "model/testing/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/check.h"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

// CRC-32 as zlib computes it (reflected polynomial 0xedb88320).
uint32_t crc32(uint32_t crc, std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1u) ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  crc = ~crc;
  for (std::byte b : bytes) crc = table[(crc ^ std::to_integer<uint32_t>(b)) & 0xffu] ^ (crc >> 8);
  return ~crc;
}

std::string weights_crc(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  uint32_t crc = 0;
  for (const fs::path& path : files) crc = crc32(crc, MappedFile::open(path).value().bytes());
  return fmt::format("{:08x}", crc);
}

}  // namespace

Figures::Figures(const std::string& name, const fs::path& model)
    : file_(MappedFile::open(fs::path(LOCKSTEP_SOURCE_DIR) / "tests/figures" /
                             (name + ".safetensors"))
                .value()),
      header_(parse_safetensors(file_.bytes(), file_.path()).value()) {
  LOCKSTEP_CHECK(header_.metadata["complete"] == "yes", "half-written figures");
  LOCKSTEP_CHECK(header_.metadata["weights_crc32"] == weights_crc(model),
                 "these figures belong to other weights: run scripts/make_figures.sh");
}

int Figures::prompts() const {
  int count = 0;
  while (has(fmt::format("p{}.ids", count))) ++count;
  return count;
}

bool Figures::has(const std::string& tensor) const {
  return std::any_of(header_.entries.begin(), header_.entries.end(),
                     [&](const SafetensorsEntry& entry) { return entry.name == tensor; });
}

const SafetensorsEntry& Figures::find(const std::string& tensor) const {
  const auto entry =
      std::find_if(header_.entries.begin(), header_.entries.end(),
                   [&](const SafetensorsEntry& candidate) { return candidate.name == tensor; });
  LOCKSTEP_CHECK(entry != header_.entries.end(), "no figure named " + tensor);
  return *entry;
}

}  // namespace lockstep::testing
