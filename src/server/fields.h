// Reads a JSON object of a request field by field. The first thing that is wrong is kept, the reads
// after it give defaults; what no read asked for can be named at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/api_error.h"

namespace lockstep {

class Fields {
 public:
  // `path` stands before the names in messages: "" or "stream_options.". The object outlives this.
  explicit Fields(const json::object& object, std::string path = {})
      : object_(object), path_(std::move(path)) {}

  // The value; nothing where the field is absent or null, or wrong (then that is the error).
  std::optional<bool> boolean(std::string_view name);
  std::optional<int64_t> integer(std::string_view name, int64_t least, int64_t most);
  std::optional<double> number(std::string_view name, double least, double most);
  std::optional<std::string> text(std::string_view name);
  // A text, or a list of texts.
  std::optional<std::vector<std::string>> texts(std::string_view name, size_t most);
  const json::object* object(std::string_view name);
  const json::array* array(std::string_view name);
  // Anything but null.
  const json::value* any(std::string_view name);

  bool has(std::string_view name) const;
  // Marks a field as known though it is not read.
  void skip(std::string_view name) { known_.insert(std::string(name)); }

  // Keeps the error if it is the first; `name` of this object.
  void fail(std::string_view name, std::string message, std::string code = {}, int status = 400);
  // The first error; else an unknown field, by name.
  ApiStatus finish();
  const ApiStatus& error() const { return error_; }

 private:
  void wrong(std::string_view name, std::string_view expected, const json::value& found);

  const json::object& object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
  ApiStatus error_;
};

// What a value is, for messages: "a string", "the number 3.5".
std::string describe_value(const json::value& value);

}  // namespace lockstep
