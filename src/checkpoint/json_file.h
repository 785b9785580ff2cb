// JSON of strangers, read in memory that its size bounds: a value of a document takes 50 times the
// bytes of its text, so that a few megabytes of "[1,1,1" would take gigabytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace lockstep {

// Memory beyond twice the size of the input that a refused one may take: what 32768 values need.
inline constexpr size_t kJsonSlackBytes = 8u << 20;

// parse_json for a text that comes with `input_bytes` of file (the tensors behind a header count).
// Refused: more values than 32768 and one for each 256 bytes of the input, and strings beyond 1
// MiB.
Result<json::value> parse_bounded_json(std::string_view text, size_t input_bytes,
                                       std::string_view what);

// The same for a whole file of at most `max_bytes`, which is mapped, not copied, and comes with
// `more_bytes` of other files.
Result<json::value> read_json_file(const std::filesystem::path& path, size_t max_bytes,
                                   size_t more_bytes = 0);

}  // namespace lockstep
