#include "checkpoint/gguf/writer.h"

#include "base/check.h"

namespace lockstep {
namespace {

constexpr uint32_t kVersion = 3;
constexpr uint64_t kStep = kDefaultGgufAlignment;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<uint64_t>(text.size()));
  out += text;
}

uint64_t aligned(uint64_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

}  // namespace

void GgufWriter::add_key(std::string_view key, GgufValueType type) {
  put_text(fields_, key);
  put(fields_, static_cast<uint32_t>(type));
  ++field_count_;
}

void GgufWriter::add(std::string_view key, uint32_t value) {
  add_key(key, GgufValueType::kU32);
  put(fields_, value);
}

void GgufWriter::add(std::string_view key, float value) {
  add_key(key, GgufValueType::kF32);
  put(fields_, value);
}

void GgufWriter::add(std::string_view key, bool value) {
  add_key(key, GgufValueType::kBool);
  put(fields_, static_cast<uint8_t>(value));
}

void GgufWriter::add(std::string_view key, std::string_view value) {
  add_key(key, GgufValueType::kString);
  put_text(fields_, value);
}

void GgufWriter::add(std::string_view key, std::span<const int32_t> values) {
  add_key(key, GgufValueType::kArray);
  put(fields_, static_cast<uint32_t>(GgufValueType::kI32));
  put(fields_, static_cast<uint64_t>(values.size()));
  for (const int32_t value : values) put(fields_, value);
}

void GgufWriter::add_bools(std::string_view key, const std::vector<bool>& values) {
  add_key(key, GgufValueType::kArray);
  put(fields_, static_cast<uint32_t>(GgufValueType::kBool));
  put(fields_, static_cast<uint64_t>(values.size()));
  for (const bool value : values) put(fields_, static_cast<uint8_t>(value));
}

void GgufWriter::add(std::string_view key, std::span<const std::string_view> values) {
  add_key(key, GgufValueType::kArray);
  put(fields_, static_cast<uint32_t>(GgufValueType::kString));
  put(fields_, static_cast<uint64_t>(values.size()));
  for (const std::string_view value : values) put_text(fields_, value);
}

size_t GgufWriter::add_tensor(std::string_view name, const GgufTensorType& type,
                              std::span<const int64_t> shape) {
  LOCKSTEP_CHECK(!shape.empty() && shape.size() <= static_cast<size_t>(kMaxGgufDims), name);
  LOCKSTEP_CHECK(shape.back() % type.elements() == 0, name);
  Tensor tensor;
  if (!tensors_.empty()) tensor.offset = aligned(tensors_.back().offset + tensors_.back().bytes);
  tensor.bytes = static_cast<uint64_t>(type.bytes() * (shape.back() / type.elements()));
  for (const int64_t extent : shape.first(shape.size() - 1)) {
    tensor.bytes *= static_cast<uint64_t>(extent);
  }
  put_text(infos_, name);
  put(infos_, static_cast<uint32_t>(shape.size()));
  for (size_t d = shape.size(); d > 0; --d) put(infos_, static_cast<uint64_t>(shape[d - 1]));
  put(infos_, gguf_type_number(type));
  put(infos_, tensor.offset);
  tensors_.push_back(tensor);
  return tensors_.size() - 1;
}

uint64_t GgufWriter::header_bytes() const {
  constexpr uint64_t kStart = 4 + sizeof(kVersion) + 2 * sizeof(uint64_t);
  return aligned(kStart + fields_.size() + infos_.size());
}

std::string GgufWriter::header() const {
  std::string out = "GGUF";
  put(out, kVersion);
  put(out, static_cast<uint64_t>(tensors_.size()));
  put(out, field_count_);
  out += fields_;
  out += infos_;
  out.resize(header_bytes(), '\0');
  return out;
}

uint64_t GgufWriter::offset_of(size_t number) const {
  return header_bytes() + tensors_[number].offset;
}

uint64_t GgufWriter::file_bytes() const {
  if (tensors_.empty()) return header_bytes();
  return offset_of(tensors_.size() - 1) + tensors_.back().bytes;
}

}  // namespace lockstep
