#include "checkpoint/gguf/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/float16.h"
#include "base/json.h"

namespace lockstep {
namespace {

constexpr size_t kShownText = 64;

template <typename T>
int64_t widen(const std::byte* data) {
  return static_cast<int64_t>(load_unaligned<T>(data));
}

// nullopt: not an integer, or one above the largest int64.
std::optional<int64_t> integer_at(GgufValueType type, const std::byte* data) {
  switch (type) {
    case GgufValueType::kU8:
      return widen<uint8_t>(data);
    case GgufValueType::kI8:
      return widen<int8_t>(data);
    case GgufValueType::kU16:
      return widen<uint16_t>(data);
    case GgufValueType::kI16:
      return widen<int16_t>(data);
    case GgufValueType::kU32:
      return widen<uint32_t>(data);
    case GgufValueType::kI32:
      return widen<int32_t>(data);
    case GgufValueType::kI64:
      return widen<int64_t>(data);
    case GgufValueType::kU64: {
      const auto value = load_unaligned<uint64_t>(data);
      if (value > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> number_at(GgufValueType type, const std::byte* data) {
  if (type == GgufValueType::kF32) return load_unaligned<float>(data);
  if (type == GgufValueType::kF64) return load_unaligned<double>(data);
  if (const auto whole = integer_at(type, data)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::string_view text_at(const std::byte* data) {
  const auto length = load_unaligned<uint64_t>(data);
  return {reinterpret_cast<const char*>(data) + sizeof(length), static_cast<size_t>(length)};
}

std::string describe(const GgufField* field) {
  if (field == nullptr) return "nothing";
  if (field->type == GgufValueType::kArray) {
    return fmt::format("an array of {} of {}", field->count, to_string(field->element));
  }
  if (field->type == GgufValueType::kString) {
    const std::string_view text = text_at(field->data);
    return quote_json(std::string(text.substr(0, kShownText)));
  }
  if (field->type == GgufValueType::kBool) {
    return load_unaligned<uint8_t>(field->data) != 0 ? "true" : "false";
  }
  if (const auto whole = integer_at(field->type, field->data)) return fmt::format("{}", *whole);
  if (const auto number = number_at(field->type, field->data)) return fmt::format("{}", *number);
  return fmt::format("{}", load_unaligned<uint64_t>(field->data));
}

std::string describe(NumberRange range) {
  return fmt::format("a number {} {} and at most {}", range.above_low ? "above" : "of at least",
                     range.low, range.high);
}

bool holds(NumberRange range, double value) {
  return std::isfinite(value) && value <= range.high &&
         (range.above_low ? value > range.low : value >= range.low);
}

}  // namespace

const char* to_string(GgufValueType type) {
  constexpr const char* kNames[kGgufValueTypes] = {"u8",  "i8",  "u16",  "i16",    "u32",
                                                   "i32", "f32", "bool", "string", "array",
                                                   "u64", "i64", "f64"};
  return kNames[static_cast<uint32_t>(type)];
}

const GgufField* GgufMetadata::find(std::string_view key) const {
  const auto found = std::lower_bound(
      fields_.begin(), fields_.end(), key,
      [](const GgufField& field, std::string_view wanted) { return field.key < wanted; });
  return found != fields_.end() && found->key == key ? &*found : nullptr;
}

Error GgufMetadata::wrong(std::string_view key, std::string_view allowed, ErrorCode code) const {
  return Error{
      code, fmt::format("{}: {}: found {}, expected {}", file_, key, describe(find(key)), allowed)};
}

Result<int64_t> GgufMetadata::integer(std::string_view key, IntegerRange range,
                                      std::optional<int64_t> fallback) const {
  const GgufField* field = find(key);
  if (field == nullptr && fallback) return *fallback;
  const std::string allowed = fmt::format("a whole number from {} to {}", range.low, range.high);
  if (field == nullptr) return wrong(key, allowed);
  const auto value = integer_at(field->type, field->data);
  if (!value || *value < range.low || *value > range.high) return wrong(key, allowed);
  return *value;
}

Result<double> GgufMetadata::number(std::string_view key, NumberRange range,
                                    std::optional<double> fallback) const {
  const GgufField* field = find(key);
  if (field == nullptr && fallback) return *fallback;
  if (field == nullptr) return wrong(key, describe(range));
  const auto value = number_at(field->type, field->data);
  if (!value || !holds(range, *value)) return wrong(key, describe(range));
  return *value;
}

Result<bool> GgufMetadata::boolean(std::string_view key, std::optional<bool> fallback) const {
  const GgufField* field = find(key);
  if (field == nullptr && fallback) return *fallback;
  if (field == nullptr || field->type != GgufValueType::kBool) return wrong(key, "true or false");
  return load_unaligned<uint8_t>(field->data) != 0;
}

Result<std::string_view> GgufMetadata::text(std::string_view key,
                                            std::optional<std::string_view> fallback) const {
  const GgufField* field = find(key);
  if (field == nullptr && fallback) return *fallback;
  if (field == nullptr || field->type != GgufValueType::kString) return wrong(key, "a text");
  return text_at(field->data);
}

Result<std::vector<int64_t>> GgufMetadata::integers(std::string_view key, IntegerRange range,
                                                    uint64_t most) const {
  const GgufField* field = find(key);
  if (field == nullptr) return std::vector<int64_t>();
  const bool list = field->type == GgufValueType::kArray;
  const GgufValueType type = list ? field->element : field->type;
  const std::string allowed =
      fmt::format("at most {} whole numbers from {} to {}", most, range.low, range.high);
  if (field->count > most) return wrong(key, allowed);
  std::vector<int64_t> values;
  for (uint64_t i = 0; i < field->count; ++i) {
    const std::byte* data = field->data + i * gguf_value_bytes(type);
    const auto value = type == GgufValueType::kBool ? widen<uint8_t>(data) : integer_at(type, data);
    if (!value || *value < range.low || *value > range.high) return wrong(key, allowed);
    values.push_back(*value);
  }
  return values;
}

Result<std::vector<std::string_view>> GgufMetadata::texts(std::string_view key,
                                                          uint64_t most) const {
  const GgufField* field = find(key);
  if (field == nullptr) return std::vector<std::string_view>();
  if (field->type != GgufValueType::kArray || field->element != GgufValueType::kString ||
      field->count > most) {
    return wrong(key, fmt::format("an array of at most {} texts", most));
  }
  std::vector<std::string_view> values;
  values.reserve(static_cast<size_t>(field->count));
  const std::byte* data = field->data;
  for (uint64_t i = 0; i < field->count; ++i) {
    values.push_back(text_at(data));
    data += sizeof(uint64_t) + values.back().size();
  }
  return values;
}

}  // namespace lockstep
