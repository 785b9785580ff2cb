#include "checkpoint/json_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/mapped_file.h"
#include "checkpoint/mapping_guard.h"

namespace lockstep {
namespace {

constexpr size_t kAlwaysAllowed = 32768;
constexpr size_t kBytesPerValue = 256;
constexpr size_t kLongestString = 1u << 20;

// Without looking at anything but quotes and commas: at least as many values as the text has.
struct Census {
  size_t values = 1;
  size_t longest_string = 0;
};

Census count(std::string_view text) {
  Census census;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const size_t begin = ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      census.longest_string = std::max(census.longest_string, i - begin);
    } else {
      census.values += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
  }
  return census;
}

}  // namespace

Result<json::value> parse_bounded_json(std::string_view text, size_t input_bytes,
                                       std::string_view what) {
  const Census census = count(text);
  const size_t most = kAlwaysAllowed + input_bytes / kBytesPerValue;
  if (census.values > most) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: found {} values in {} bytes of JSON, expected at most {}", what,
                             census.values, text.size(), most)};
  }
  if (census.longest_string > kLongestString) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: found a string of {} bytes, expected at most {}", what,
                             census.longest_string, kLongestString)};
  }
  return parse_json(text, what);
}

Result<json::value> read_json_file(const std::filesystem::path& path, size_t max_bytes,
                                   size_t more_bytes) {
  LOCKSTEP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() > max_bytes) {
    return Error{ErrorCode::kBadFile, fmt::format("{}: found {} bytes, expected at most {}",
                                                  path.string(), bytes.size(), max_bytes)};
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  LOCKSTEP_ASSIGN_OR_RETURN(json::value root,
                            parse_bounded_json(text, text.size() + more_bytes, path.string()));
  LOCKSTEP_RETURN_IF_ERROR(check_mapping(file.bytes(), file.path()));
  return root;
}

}  // namespace lockstep
