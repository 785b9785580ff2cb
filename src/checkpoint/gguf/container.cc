#include "checkpoint/gguf/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/float16.h"

namespace lockstep {
namespace {

constexpr std::string_view kMagic = "GGUF";
// The least that a field and a tensor's description take: lengths, a name of one byte, types.
constexpr size_t kLeastFieldBytes = 8 + 1 + 4 + 1;
constexpr size_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr int64_t kMaxAlignment = 1 << 16;
constexpr int64_t kMaxExtent = int64_t{1} << 40;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// Walks the header; the first fault ends it.
class Parser {
 public:
  Parser(std::span<const std::byte> file, std::string_view name) : file_(file), name_(name) {}

  Result<GgufContainer> parse();

 private:
  template <typename T>
  Result<T> read() {
    if (left() < sizeof(T)) return ends_early();
    const T value = load_unaligned<T>(here());
    at_ += sizeof(T);
    return value;
  }
  Result<std::string_view> read_text(size_t most, std::string_view what);
  Result<GgufValueType> read_value_type();
  Status skip(uint64_t count, size_t size);
  Status skip_texts(uint64_t count);
  Status read_header();
  Status read_field();
  Status read_value(GgufField& field);
  Status sort_fields();
  Status read_alignment();
  Status read_tensor();
  Status read_extents(GgufTensor& tensor);
  Status place_tensors();
  Status check_names() const;

  const std::byte* here() const { return file_.data() + at_; }
  size_t left() const { return file_.size() - at_; }
  Error fail(const std::string& fault, ErrorCode code = ErrorCode::kBadFile) const {
    return {code, fmt::format("{}: {}", name_, fault)};
  }
  Error ends_early() const {
    return fail(fmt::format("the file ends within its header, at byte {}", file_.size()));
  }

  std::span<const std::byte> file_;
  std::string_view name_;
  size_t at_ = 0;
  uint64_t field_count_ = 0;
  uint64_t tensor_count_ = 0;
  int64_t alignment_ = kDefaultGgufAlignment;
  std::vector<GgufField> fields_;
  GgufContainer out_;
};

Result<std::string_view> Parser::read_text(size_t most, std::string_view what) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto length, read<uint64_t>());
  if (length > left()) return ends_early();
  if (length == 0 || length > most) {
    return fail(
        fmt::format("{} at byte {}: found {} bytes, expected 1 to {}", what, at_, length, most));
  }
  const std::string_view text(reinterpret_cast<const char*>(here()), static_cast<size_t>(length));
  if (!is_plain(text)) {
    return fail(fmt::format("{} at byte {} is not printable ASCII", what, at_));
  }
  at_ += text.size();
  return text;
}

Status Parser::read_header() {
  if (!looks_like_gguf(file_)) return fail("this is not a GGUF file");
  at_ = kMagic.size();
  LOCKSTEP_ASSIGN_OR_RETURN(const auto version, read<uint32_t>());
  if (version != 0 && version % 0x10000 == 0) {
    return fail("this GGUF file is big-endian; only little-endian ones are read",
                ErrorCode::kUnsupported);
  }
  if (version != 2 && version != 3) {
    return fail(fmt::format("found GGUF version {}, expected 2 or 3", version),
                ErrorCode::kUnsupported);
  }
  LOCKSTEP_ASSIGN_OR_RETURN(tensor_count_, read<uint64_t>());
  LOCKSTEP_ASSIGN_OR_RETURN(field_count_, read<uint64_t>());
  const auto check = [&](std::string_view what, uint64_t count, uint64_t most, size_t least) {
    if (count <= most && count <= left() / least) return Status();
    return Status(fail(fmt::format("found {} {}; at most {} are read, and {} bytes hold fewer",
                                   count, what, most, left())));
  };
  LOCKSTEP_RETURN_IF_ERROR(check("fields", field_count_, kMaxGgufFields, kLeastFieldBytes));
  return check("tensors", tensor_count_, kMaxGgufTensors, kLeastTensorBytes);
}

Result<GgufValueType> Parser::read_value_type() {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto number, read<uint32_t>());
  if (number >= kGgufValueTypes) {
    return fail(fmt::format("found value type {} before byte {}, expected 0 to {}", number, at_,
                            kGgufValueTypes - 1));
  }
  return static_cast<GgufValueType>(number);
}

Status Parser::skip(uint64_t count, size_t size) {
  if (count > left() / size) return ends_early();
  at_ += static_cast<size_t>(count) * size;
  return {};
}

Status Parser::skip_texts(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    LOCKSTEP_ASSIGN_OR_RETURN(const auto length, read<uint64_t>());
    LOCKSTEP_RETURN_IF_ERROR(skip(length, 1));
  }
  return {};
}

Status Parser::read_value(GgufField& field) {
  GgufValueType type = field.type;
  if (type == GgufValueType::kArray) {
    LOCKSTEP_ASSIGN_OR_RETURN(field.element, read_value_type());
    LOCKSTEP_ASSIGN_OR_RETURN(field.count, read<uint64_t>());
    type = field.element;
    if (type == GgufValueType::kArray) return fail(fmt::format("{}: a list of lists", field.key));
  }
  field.data = here();
  if (type == GgufValueType::kString) return skip_texts(field.count);
  LOCKSTEP_RETURN_IF_ERROR(skip(field.count, gguf_value_bytes(type)));
  if (type != GgufValueType::kBool) return {};
  for (uint64_t i = 0; i < field.count; ++i) {
    if (std::to_integer<int>(field.data[i]) > 1) {
      return fail(fmt::format("{}: a truth value is neither 0 nor 1", field.key));
    }
  }
  return {};
}

Status Parser::read_field() {
  GgufField field;
  LOCKSTEP_ASSIGN_OR_RETURN(field.key, read_text(kMaxGgufKey, "a key"));
  LOCKSTEP_ASSIGN_OR_RETURN(field.type, read_value_type());
  LOCKSTEP_RETURN_IF_ERROR(read_value(field));
  fields_.push_back(field);
  return {};
}

Status Parser::sort_fields() {
  std::sort(fields_.begin(), fields_.end(),
            [](const GgufField& a, const GgufField& b) { return a.key < b.key; });
  const auto twin =
      std::adjacent_find(fields_.begin(), fields_.end(),
                         [](const GgufField& a, const GgufField& b) { return a.key == b.key; });
  if (twin != fields_.end()) return fail(fmt::format("{} is there twice", twin->key));
  out_.metadata = GgufMetadata(std::move(fields_), std::string(name_));
  return {};
}

Status Parser::read_alignment() {
  LOCKSTEP_ASSIGN_OR_RETURN(
      alignment_,
      out_.metadata.integer("general.alignment", {1, kMaxAlignment}, kDefaultGgufAlignment));
  if ((alignment_ & (alignment_ - 1)) == 0) return {};
  return out_.metadata.wrong("general.alignment", "a power of two");
}

Status Parser::read_extents(GgufTensor& tensor) {
  const auto refuse = [&](const std::string& fault) {
    return fail(fmt::format("tensor {}: {}", tensor.name, fault));
  };
  LOCKSTEP_ASSIGN_OR_RETURN(const auto dims, read<uint32_t>());
  if (dims < 1 || dims > kMaxGgufDims) {
    return refuse(fmt::format("found {} dimensions, expected 1 to {}", dims, kMaxGgufDims));
  }
  tensor.dims = static_cast<uint8_t>(dims);
  for (uint32_t d = 0; d < dims; ++d) {
    LOCKSTEP_ASSIGN_OR_RETURN(const auto extent, read<uint64_t>());
    if (extent < 1 || extent > static_cast<uint64_t>(kMaxExtent)) {
      return refuse(fmt::format("found a dimension of {}, expected 1 to {}", extent, kMaxExtent));
    }
    tensor.ne[d] = static_cast<int64_t>(extent);
  }
  return {};
}

Status Parser::read_tensor() {
  GgufTensor tensor;
  LOCKSTEP_ASSIGN_OR_RETURN(tensor.name, read_text(kMaxGgufKey, "a tensor's name"));
  LOCKSTEP_RETURN_IF_ERROR(read_extents(tensor));
  const auto refuse = [&](const std::string& fault, ErrorCode code = ErrorCode::kBadFile) {
    return fail(fmt::format("tensor {}: {}", tensor.name, fault), code);
  };
  LOCKSTEP_ASSIGN_OR_RETURN(const auto number, read<uint32_t>());
  auto type = gguf_tensor_type(number);
  if (!type.ok()) return refuse(type.error().message, type.error().code);
  tensor.type = type.value();
  LOCKSTEP_ASSIGN_OR_RETURN(const auto offset, read<uint64_t>());
  if (offset % static_cast<uint64_t>(alignment_) != 0 || offset > file_.size()) {
    return refuse(fmt::format("found offset {}, expected a multiple of {} inside the file", offset,
                              alignment_));
  }
  tensor.begin = static_cast<size_t>(offset);  // from the start of the data, for now
  if (tensor.ne[0] % tensor.type.elements() != 0) {
    return refuse(fmt::format("found rows of {}, expected a multiple of {}, the block of {}",
                              tensor.ne[0], tensor.type.elements(),
                              tensor.type.blocks ? to_string(*tensor.type.blocks) : ""));
  }
  int64_t bytes = tensor.type.bytes();
  for (const int64_t units :
       {tensor.ne[0] / tensor.type.elements(), tensor.ne[1], tensor.ne[2], tensor.ne[3]}) {
    if (__builtin_mul_overflow(bytes, units, &bytes)) return refuse("its size is beyond 2^63");
  }
  tensor.bytes = static_cast<size_t>(bytes);
  out_.tensors.push_back(tensor);
  return {};
}

Status Parser::check_names() const {
  std::vector<std::string_view> names;
  names.reserve(out_.tensors.size());
  for (const GgufTensor& tensor : out_.tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) return fail(fmt::format("tensor {} is there twice", *twin));
  return {};
}

Status Parser::place_tensors() {
  const auto step = static_cast<size_t>(alignment_);
  const size_t data = (at_ + step - 1) / step * step;
  std::sort(out_.tensors.begin(), out_.tensors.end(),
            [](const GgufTensor& a, const GgufTensor& b) { return a.begin < b.begin; });
  size_t end = 0;
  for (GgufTensor& tensor : out_.tensors) {
    if (data > file_.size() || tensor.begin > file_.size() - data ||
        tensor.bytes > file_.size() - data - tensor.begin) {
      return fail(
          fmt::format("tensor {}: its {} bytes from {} end beyond the file's {}; the file "
                      "may be cut short",
                      tensor.name, tensor.bytes, tensor.begin, file_.size()));
    }
    if (tensor.begin < end) return fail(fmt::format("tensor {} overlaps another", tensor.name));
    end = tensor.begin + tensor.bytes;
    tensor.begin += data;
  }
  return {};
}

Result<GgufContainer> Parser::parse() {
  LOCKSTEP_RETURN_IF_ERROR(read_header());
  fields_.reserve(static_cast<size_t>(field_count_));
  for (uint64_t i = 0; i < field_count_; ++i) LOCKSTEP_RETURN_IF_ERROR(read_field());
  LOCKSTEP_RETURN_IF_ERROR(sort_fields());
  LOCKSTEP_RETURN_IF_ERROR(read_alignment());
  for (uint64_t i = 0; i < tensor_count_; ++i) LOCKSTEP_RETURN_IF_ERROR(read_tensor());
  LOCKSTEP_RETURN_IF_ERROR(check_names());
  LOCKSTEP_RETURN_IF_ERROR(place_tensors());
  return std::move(out_);
}

}  // namespace

bool looks_like_gguf(std::span<const std::byte> file) {
  return file.size() >= kMagic.size() &&
         std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<GgufContainer> parse_gguf(std::span<const std::byte> file, std::string_view name) {
  return Parser(file, name).parse();
}

}  // namespace lockstep
