#include "checkpoint/content_hash.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

Result<Hash128> content_hash(const Checkpoint& checkpoint) {
  std::vector<Hash128> parts;
  const std::filesystem::path config = checkpoint.path / "config.json";
  if (file_exists(config)) {
    LOCKSTEP_ASSIGN_OR_RETURN(const std::string text, read_text_file(config, size_t{1} << 26));
    parts.push_back(hash128(std::as_bytes(std::span(text))));
  }
  for (const MappedFile& file : checkpoint.files) {
    LOCKSTEP_RETURN_IF_ERROR(file.load(0, file.bytes().size()));
    parts.push_back(hash128(file.bytes()));
  }
  std::sort(parts.begin(), parts.end());
  return hash128(std::as_bytes(std::span(parts)));
}

}  // namespace lockstep
