#include "checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/float16.h"
#include "base/json.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/json_file.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxDimensions = 8;
constexpr int64_t kMaxInt64 = INT64_MAX;
constexpr DType kDTypes[] = {DType::kF64,    DType::kF32,    DType::kF16, DType::kBF16,
                             DType::kF8E4M3, DType::kF8E8M0, DType::kI64, DType::kI32,
                             DType::kI8,     DType::kU32,    DType::kU8,  DType::kBool};

struct Parser {
  std::string_view file_name;
  size_t data_begin = 0;
  size_t file_bytes = 0;

  template <typename... Args>
  Error fail(fmt::format_string<Args...> format, Args&&... args) const {
    return Error{
        ErrorCode::kBadFile,
        fmt::format("{}: {}", file_name, fmt::format(format, std::forward<Args>(args)...))};
  }

  Result<SafetensorsEntry> entry(const std::string& name, const json::value& value) const;
  Result<DType> dtype(const std::string& name, const JsonFields& fields) const;
  Status place(const JsonFields& fields, SafetensorsEntry& entry) const;
  Status metadata(const json::value& value, std::map<std::string, std::string>& out) const;
  Status check_overlap(const std::vector<SafetensorsEntry>& entries) const;
};

Result<DType> Parser::dtype(const std::string& name, const JsonFields& fields) const {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string spelling, fields.text("dtype"));
  for (const DType dtype : kDTypes) {
    if (spelling == to_string(dtype)) return dtype;
  }
  return Error{ErrorCode::kUnsupported,
               fmt::format("{}: tensor {}: found dtype {}, expected one of F64, F32, F16, BF16, "
                           "F8_E4M3, F8_E8M0, I64, I32, I8, U32, U8, BOOL",
                           file_name, name, quote_json(spelling.substr(0, 32)))};
}

// shape times the size of an element, or nullopt beyond int64.
std::optional<int64_t> byte_count(const std::vector<int64_t>& shape, DType dtype) {
  int64_t count = static_cast<int64_t>(size_of(dtype));
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t size : shape) {
    if (count > kMaxInt64 / size) return std::nullopt;
    count *= size;
  }
  return count;
}

Status Parser::place(const JsonFields& fields, SafetensorsEntry& entry) const {
  const IntegerRange any{0, kMaxInt64};
  LOCKSTEP_ASSIGN_OR_RETURN(const auto offsets, fields.integers("data_offsets", any));
  const json::value* list = fields.find("data_offsets");
  if (list == nullptr || !list->is_array() || offsets.size() != 2) {
    return fields.wrong("data_offsets", "a list of begin and end");
  }
  const auto available = static_cast<int64_t>(file_bytes - data_begin);
  if (offsets[0] > offsets[1] || offsets[1] > available) {
    return fail("tensor {}: found bytes {} to {}, but the file holds {} bytes of tensors{}",
                entry.name, offsets[0], offsets[1], available,
                offsets[0] <= offsets[1] ? "; it is cut short or damaged" : "");
  }
  const auto expected = byte_count(entry.shape, entry.dtype);
  if (!expected || *expected != offsets[1] - offsets[0]) {
    return fail("tensor {}: found {} bytes for {} {}, expected {}", entry.name,
                offsets[1] - offsets[0], to_string(entry.dtype), format_shape(entry.shape),
                expected ? fmt::format("{}", *expected) : "more than any file holds");
  }
  entry.begin = data_begin + static_cast<size_t>(offsets[0]);
  entry.bytes = static_cast<size_t>(*expected);
  return {};
}

Result<SafetensorsEntry> Parser::entry(const std::string& name, const json::value& value) const {
  if (!is_plain_tensor_name(name)) {
    return fail("found a tensor with the name {}, expected at most 512 printable ASCII characters",
                quote_json(name.substr(0, 64)));
  }
  if (!value.is_object()) {
    return fail("tensor {}: found {}, expected an object", name, describe_found(&value));
  }
  const JsonFields fields(value.get_object(), file_name, name + ".");
  SafetensorsEntry entry;
  entry.name = name;
  LOCKSTEP_ASSIGN_OR_RETURN(entry.dtype, dtype(name, fields));
  LOCKSTEP_ASSIGN_OR_RETURN(entry.shape, fields.integers("shape", {0, kMaxInt64}));
  const json::value* shape = fields.find("shape");
  if (shape == nullptr || !shape->is_array() || entry.shape.size() > kMaxDimensions) {
    return fields.wrong("shape", fmt::format("a list of at most {} sizes", kMaxDimensions));
  }
  LOCKSTEP_RETURN_IF_ERROR(place(fields, entry));
  return entry;
}

// `entries` are ascending by begin.
Status Parser::check_overlap(const std::vector<SafetensorsEntry>& entries) const {
  const SafetensorsEntry* last = nullptr;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.bytes == 0) continue;
    if (last != nullptr && entry.begin < last->begin + last->bytes) {
      return fail("tensors {} and {} overlap", last->name, entry.name);
    }
    last = &entry;
  }
  return {};
}

Status Parser::metadata(const json::value& value, std::map<std::string, std::string>& out) const {
  if (!value.is_object()) {
    return fail("__metadata__: found {}, expected an object", describe_found(&value));
  }
  for (const auto& item : value.get_object()) {
    if (!item.value().is_string()) {
      return fail("__metadata__: found {}, expected only texts", describe_found(&item.value()));
    }
    const json::string& text = item.value().get_string();
    out.emplace(std::string(item.key()), std::string(text.data(), text.size()));
  }
  return {};
}

}  // namespace

bool is_plain_tensor_name(std::string_view name) {
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  return !name.empty() && name.size() <= 512 && std::all_of(name.begin(), name.end(), printable);
}

Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file,
                                            std::string_view name) {
  Parser parser{.file_name = name, .data_begin = 0, .file_bytes = file.size()};
  if (file.size() < kLengthBytes) {
    return parser.fail("found {} bytes, expected a safetensors file", file.size());
  }
  const auto length = load_unaligned<uint64_t>(file.data());
  if (length > kMaxSafetensorsHeader) {
    return parser.fail("found a header of {} bytes, expected at most {}: not a safetensors file",
                       length, kMaxSafetensorsHeader);
  }
  if (length > file.size() - kLengthBytes) {
    return parser.fail("found a header of {} bytes in a file of {}; it is cut short or damaged",
                       length, file.size());
  }
  parser.data_begin = kLengthBytes + static_cast<size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              static_cast<size_t>(length));
  LOCKSTEP_ASSIGN_OR_RETURN(const json::value root,
                            parse_bounded_json(text, file.size(), fmt::format("{} header", name)));
  if (!root.is_object()) return parser.fail("found a header that is not a JSON object");

  SafetensorsHeader header;
  for (const auto& item : root.get_object()) {
    if (item.key() == "__metadata__") {
      LOCKSTEP_RETURN_IF_ERROR(parser.metadata(item.value(), header.metadata));
      continue;
    }
    LOCKSTEP_ASSIGN_OR_RETURN(auto entry, parser.entry(std::string(item.key()), item.value()));
    header.entries.push_back(std::move(entry));
  }
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  LOCKSTEP_RETURN_IF_ERROR(parser.check_overlap(header.entries));
  return header;
}

}  // namespace lockstep
