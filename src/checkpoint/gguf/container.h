// The GGUF container: a header, named values, named tensors, and the tensors' bytes at multiples of
// an alignment. Versions 2 and 3, little-endian. Parsing copies nothing and trusts nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/gguf/metadata.h"
#include "checkpoint/gguf/tensor_type.h"

namespace lockstep {

// More than any file of this family has; they bound what a small file can ask for.
inline constexpr uint64_t kMaxGgufFields = 1024;
inline constexpr uint64_t kMaxGgufTensors = 1 << 14;
inline constexpr size_t kMaxGgufKey = 256;
inline constexpr int kMaxGgufDims = 4;
inline constexpr int64_t kDefaultGgufAlignment = 32;

struct GgufTensor {
  std::string_view name;  // printable ASCII, in the file
  GgufTensorType type;
  uint8_t dims = 0;  // 1 to 4
  // Fastest first, all at least 1: ne[0] is the inner dimension, a multiple of type.elements().
  std::array<int64_t, kMaxGgufDims> ne = {1, 1, 1, 1};
  size_t begin = 0;  // of its bytes in the file
  size_t bytes = 0;  // of all its blocks or elements
};

struct GgufContainer {
  GgufMetadata metadata;
  std::vector<GgufTensor> tensors;  // ascending by begin; inside the file, not overlapping
};

// True if the bytes begin as a GGUF file of any version does.
bool looks_like_gguf(std::span<const std::byte> file);

// `file` is the whole file and outlives the result; `name` names it in messages. Duplicate keys or
// names, lists of lists, unknown types, bad offsets and anything beyond the limits above are
// errors.
Result<GgufContainer> parse_gguf(std::span<const std::byte> file, std::string_view name);

}  // namespace lockstep
