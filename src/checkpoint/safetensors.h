// The safetensors container: u64 header length, a JSON header, the tensors' bytes. Parsing reads
// the header only and trusts nothing in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace lockstep {

// Larger headers are refused; the reference reader has the same limit.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // at most 8 dimensions; none for a scalar
  size_t begin = 0;            // of its bytes in the file
  size_t bytes = 0;            // the product of shape, times size_of(dtype)
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // ascending by begin; inside the file, not overlapping
  std::map<std::string, std::string> metadata;
};

// Printable ASCII of a sane length: what the family uses, and safe to show on a terminal.
bool is_plain_tensor_name(std::string_view name);

// `file` is the whole file; `name` names it in messages. Duplicate names, overlapping or
// out-of-range offsets, unknown dtypes and sizes that are not shape times dtype are errors. Bytes
// that no tensor covers are not.
Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file, std::string_view name);

}  // namespace lockstep
