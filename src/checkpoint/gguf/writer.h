// Lays out a GGUF file (version 3, little-endian): all of its header at once, then the tensors'
// bytes at the offsets that it says. What converters and tests write files with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/gguf/container.h"

namespace lockstep {

class GgufWriter {
 public:
  void add(std::string_view key, uint32_t value);
  void add(std::string_view key, float value);
  void add(std::string_view key, bool value);
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
  void add(std::string_view key, std::span<const int32_t> values);
  void add_bools(std::string_view key, const std::vector<bool>& values);
  void add(std::string_view key, std::span<const std::string_view> values);

  // `shape` as everywhere, the inner dimension last; 1 to 4 dimensions, and whole blocks a row.
  // Returns the tensor's number, from 0.
  size_t add_tensor(std::string_view name, const GgufTensorType& type,
                    std::span<const int64_t> shape);

  // All that stands before the first tensor's bytes, padding included.
  std::string header() const;
  // Where tensor `number` begins in the file, once everything has been added.
  uint64_t offset_of(size_t number) const;
  uint64_t bytes_of(size_t number) const { return tensors_[number].bytes; }
  uint64_t file_bytes() const;

 private:
  struct Tensor {
    uint64_t offset = 0;  // from the start of the data
    uint64_t bytes = 0;
  };
  void add_key(std::string_view key, GgufValueType type);
  uint64_t header_bytes() const;

  std::string fields_;
  std::string infos_;
  uint64_t field_count_ = 0;
  std::vector<Tensor> tensors_;
};

}  // namespace lockstep
