// One JSON object of a configuration file, read field by field. Every error names the file, the
// field's path, what was found and what is allowed. A null counts as absent. Text that holds a
// number is not a number, and 8.0 is not a whole one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace lockstep {

struct IntegerRange {
  int64_t low = 0;
  int64_t high = 0;
};

struct NumberRange {
  double low = 0.0;
  double high = 0.0;
  bool above_low = false;  // low itself is not allowed
};

// A value for a message: `"8"`, `8.5`, `a list of 3`, `an object`, `nothing` for a null pointer.
std::string describe_found(const json::value* value);

class JsonFields {
 public:
  // `path` is "" or ends in a dot ("text_config."). The object and the file name outlive this.
  JsonFields(const json::object& object, std::string_view file, std::string path)
      : object_(&object), file_(file), path_(std::move(path)) {}
  JsonFields(json::object&&, std::string_view, std::string) = delete;

  // Null if the field is absent or null.
  const json::value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // Without a fallback the field is required.
  Result<int64_t> integer(std::string_view key, IntegerRange range,
                          std::optional<int64_t> fallback = {}) const;
  Result<double> number(std::string_view key, NumberRange range,
                        std::optional<double> fallback = {}) const;
  Result<bool> boolean(std::string_view key, std::optional<bool> fallback = {}) const;
  Result<std::string> text(std::string_view key, std::optional<std::string> fallback = {}) const;
  // One whole number or a list of them; empty if the field is absent.
  Result<std::vector<int64_t>> integers(std::string_view key, IntegerRange range) const;
  // An object, or nullopt if the field is absent.
  Result<std::optional<JsonFields>> object(std::string_view key) const;

  // An absent optional stays absent, a wrong one is an error.
  Result<std::optional<double>> optional_number(std::string_view key, NumberRange range) const;

  // "config.json: text_config.hidden_size: found 0, expected ...".
  Error wrong(std::string_view key, std::string_view allowed,
              ErrorCode code = ErrorCode::kBadFile) const;
  Error unsupported(std::string_view key, std::string_view allowed) const {
    return wrong(key, allowed, ErrorCode::kUnsupported);
  }
  // "text_config.hidden_size".
  std::string name_of(std::string_view key) const;
  const json::object& items() const { return *object_; }
  std::string_view file() const { return file_; }

 private:
  const json::object* object_;
  std::string_view file_;
  std::string path_;
};

}  // namespace lockstep
