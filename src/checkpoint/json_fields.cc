#include "checkpoint/json_fields.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr size_t kMaxListLength = 4096;
constexpr size_t kMaxShownText = 48;

std::optional<int64_t> whole_number(const json::value& value, IntegerRange range) {
  if (!value.is_int64()) return std::nullopt;  // uint64 is only used beyond int64
  const int64_t number = value.get_int64();
  if (number < range.low || number > range.high) return std::nullopt;
  return number;
}

std::optional<double> number_in(const json::value& value, NumberRange range) {
  double number = 0.0;
  if (value.is_double()) {
    number = value.get_double();
  } else if (value.is_int64()) {
    number = static_cast<double>(value.get_int64());
  } else {
    return std::nullopt;
  }
  const bool high_enough = range.above_low ? number > range.low : number >= range.low;
  if (!high_enough || !(number <= range.high)) return std::nullopt;
  return number;
}

std::string describe(IntegerRange range) {
  if (range.low == range.high) return fmt::format("{}", range.low);
  return fmt::format("a whole number from {} to {}", range.low, range.high);
}

std::string describe(NumberRange range) {
  return fmt::format("a number {} {} and at most {}", range.above_low ? "above" : "of at least",
                     range.low, range.high);
}

}  // namespace

std::string describe_found(const json::value* value) {
  if (value == nullptr) return "nothing";
  switch (value->kind()) {
    case json::kind::string: {
      const json::string& text = value->get_string();
      if (text.size() <= kMaxShownText) return quote_json({text.data(), text.size()});
      return fmt::format("a text of {} bytes", text.size());
    }
    case json::kind::array:
      return fmt::format("a list of {}", value->get_array().size());
    case json::kind::object:
      return "an object";
    default:
      return dump_json(*value);
  }
}

const json::value* JsonFields::find(std::string_view key) const {
  const json::value* value = object_->if_contains(json::string_view(key.data(), key.size()));
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<int64_t> JsonFields::integer(std::string_view key, IntegerRange range,
                                    std::optional<int64_t> fallback) const {
  const json::value* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  const auto number = value == nullptr ? std::nullopt : whole_number(*value, range);
  if (!number) return wrong(key, describe(range));
  return *number;
}

Result<double> JsonFields::number(std::string_view key, NumberRange range,
                                  std::optional<double> fallback) const {
  const json::value* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  const auto number = value == nullptr ? std::nullopt : number_in(*value, range);
  if (!number) return wrong(key, describe(range));
  return *number;
}

Result<std::optional<double>> JsonFields::optional_number(std::string_view key,
                                                          NumberRange range) const {
  if (!has(key)) return std::optional<double>();
  LOCKSTEP_ASSIGN_OR_RETURN(const double value, number(key, range));
  return std::optional<double>(value);
}

Result<bool> JsonFields::boolean(std::string_view key, std::optional<bool> fallback) const {
  const json::value* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !value->is_bool()) return wrong(key, "true or false");
  return value->get_bool();
}

Result<std::string> JsonFields::text(std::string_view key,
                                     std::optional<std::string> fallback) const {
  const json::value* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !value->is_string()) return wrong(key, "a text");
  return std::string(value->get_string().data(), value->get_string().size());
}

Result<std::vector<int64_t>> JsonFields::integers(std::string_view key, IntegerRange range) const {
  std::vector<int64_t> numbers;
  const json::value* value = find(key);
  if (value == nullptr) return numbers;
  if (const auto one = whole_number(*value, range)) return std::vector<int64_t>{*one};
  const std::string allowed = fmt::format("{} or a list of such", describe(range));
  if (!value->is_array() || value->get_array().size() > kMaxListLength) return wrong(key, allowed);
  for (const json::value& item : value->get_array()) {
    const auto number = whole_number(item, range);
    if (!number) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("{}: {}: found a list with {}, expected {}", file_, name_of(key),
                               describe_found(&item), allowed)};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::optional<JsonFields>> JsonFields::object(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return std::optional<JsonFields>();
  if (!value->is_object()) return wrong(key, "an object");
  return std::optional<JsonFields>(JsonFields(value->get_object(), file_, name_of(key) + "."));
}

Error JsonFields::wrong(std::string_view key, std::string_view allowed, ErrorCode code) const {
  return Error{code, fmt::format("{}: {}: found {}, expected {}", file_, name_of(key),
                                 describe_found(find(key)), allowed)};
}

std::string JsonFields::name_of(std::string_view key) const { return path_ + std::string(key); }

}  // namespace lockstep
