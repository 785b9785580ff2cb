// What a GGUF file says beside its tensors: named values, left where they lie in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/json_fields.h"

namespace lockstep {

enum class GgufValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};
inline constexpr uint32_t kGgufValueTypes = 13;

// "a u32", "a string".
const char* to_string(GgufValueType type);

// Bytes of one value; 0 for strings and arrays.
constexpr size_t gguf_value_bytes(GgufValueType type) {
  constexpr uint8_t kBytes[kGgufValueTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<uint32_t>(type)];
}

struct GgufField {
  std::string_view key;
  GgufValueType type = GgufValueType::kU8;
  GgufValueType element = GgufValueType::kU8;  // arrays: of their elements, never arrays
  uint64_t count = 1;                          // arrays: elements
  const std::byte* data = nullptr;  // the value, or the first element; inside the file, checked
};

// Every error names the file, the key, what was found and what is allowed. The file's bytes must
// outlive this; views of texts point into them.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  // `fields` are ascending by key, all different.
  GgufMetadata(std::vector<GgufField> fields, std::string file)
      : fields_(std::move(fields)), file_(std::move(file)) {}

  // Null if absent.
  const GgufField* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // Without a fallback the key is required. Any integer type is read, whatever its width.
  Result<int64_t> integer(std::string_view key, IntegerRange range,
                          std::optional<int64_t> fallback = {}) const;
  Result<double> number(std::string_view key, NumberRange range,
                        std::optional<double> fallback = {}) const;
  Result<bool> boolean(std::string_view key, std::optional<bool> fallback = {}) const;
  Result<std::string_view> text(std::string_view key,
                                std::optional<std::string_view> fallback = {}) const;
  // One integer or an array of them, at most `most`; booleans count as 0 and 1. Empty if absent.
  Result<std::vector<int64_t>> integers(std::string_view key, IntegerRange range,
                                        uint64_t most) const;
  // An array of strings, at most `most`; empty if absent.
  Result<std::vector<std::string_view>> texts(std::string_view key, uint64_t most) const;

  Error wrong(std::string_view key, std::string_view allowed,
              ErrorCode code = ErrorCode::kBadFile) const;
  const std::vector<GgufField>& fields() const { return fields_; }
  const std::string& file() const { return file_; }

 private:
  std::vector<GgufField> fields_;
  std::string file_;
};

}  // namespace lockstep
