#include "server/fields.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep {
namespace {

constexpr size_t kMostShown = 40;  // characters of a value in a message

std::optional<int64_t> whole_number(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (!value.is_double()) return std::nullopt;
  // Some clients write 100.0. Beyond 2^53 a double is no count.
  const double number = value.get_double();
  if (number != std::floor(number) || std::abs(number) > 9007199254740992.0) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

std::string describe_value(const json::value& value) {
  if (value.is_null()) return "null";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = dump_json(value);
  if (text.size() > kMostShown) return value.is_string() ? "a long text" : "a long number";
  return text;
}

const json::value* Fields::any(std::string_view name) {
  skip(name);
  const json::value* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool Fields::has(std::string_view name) const {
  const json::value* value = object_.if_contains(name);
  return value != nullptr && !value->is_null();
}

void Fields::fail(std::string_view name, std::string message, std::string code, int status) {
  if (error_) return;
  error_ = ApiError{.status = status,
                    .message = std::move(message),
                    .param = fmt::format("{}{}", path_, name),
                    .code = std::move(code)};
}

void Fields::wrong(std::string_view name, std::string_view expected, const json::value& found) {
  fail(name, fmt::format("{}{} must be {}, not {}", path_, name, expected, describe_value(found)));
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_bool()) return value->get_bool();
  wrong(name, "true or false", *value);
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view name, int64_t least, int64_t most) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<int64_t> number = whole_number(*value);
  if (number && *number >= least && *number <= most) return number;
  wrong(name, fmt::format("a whole number from {} to {}", least, most), *value);
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name, double least, double most) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const auto number = value->to_number<double>();
    if (number >= least && number <= most) return number;
  }
  wrong(name, fmt::format("a number from {} to {}", least, most), *value);
  return std::nullopt;
}

std::optional<std::string> Fields::text(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string(value->get_string());
  wrong(name, "a text", *value);
  return std::nullopt;
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view name, size_t most) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::vector<std::string>{std::string(value->get_string())};
  std::vector<std::string> list;
  if (const json::array* array = value->if_array(); array != nullptr && array->size() <= most) {
    for (const json::value& entry : *array) {
      if (entry.is_string()) list.emplace_back(entry.get_string());
    }
    if (list.size() == array->size()) return list;
  }
  wrong(name, fmt::format("a text or a list of up to {} texts", most), *value);
  return std::nullopt;
}

const json::object* Fields::object(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) wrong(name, "an object", *value);
  return value->if_object();
}

const json::array* Fields::array(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) wrong(name, "a list", *value);
  return value->if_array();
}

ApiStatus Fields::finish() {
  if (error_) return error_;
  for (const auto& field : object_) {
    const std::string_view name = field.key();
    if (known_.contains(name)) continue;
    fail(name, fmt::format("{}{} is not a field that this server knows", path_, name),
         "unknown_field");
    break;
  }
  return error_;
}

}  // namespace lockstep
