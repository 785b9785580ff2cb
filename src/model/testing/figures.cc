#include "model/testing/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/crc32.h"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

std::string weights_crc(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Crc32 crc;
  for (const fs::path& path : files) crc.add(MappedFile::open(path).value().bytes());
  return fmt::format("{:08x}", crc.value());
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
