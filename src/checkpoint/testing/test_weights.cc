#include "checkpoint/testing/test_weights.h"

#include <unistd.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>

#include "base/float16.h"
#include "base/json.h"

namespace lockstep {
namespace {

int64_t product(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

template <typename T>
void append(std::string& out, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.append(raw, sizeof(T));
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "checkpoint_test_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

TestTensor float_tensor(DType dtype, std::vector<int64_t> shape, const std::vector<float>& values) {
  TestTensor tensor{dtype, std::move(shape), {}};
  for (const float value : values) {
    if (dtype == DType::kF32) append(tensor.bytes, value);
    if (dtype == DType::kF16) append(tensor.bytes, float_to_f16(value));
    if (dtype == DType::kBF16) append(tensor.bytes, float_to_bf16(value));
  }
  return tensor;
}

TestTensor random_floats(DType dtype, std::vector<int64_t> shape, uint32_t seed, float mean) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(product(shape)));
  for (float& value : values) {
    value = mean + (static_cast<float>(random() % 2001) - 1000.0f) / 20000.0f;
  }
  return float_tensor(dtype, std::move(shape), values);
}

TestTensor random_words(std::vector<int64_t> shape, uint32_t seed) {
  std::mt19937 random(seed);
  TestTensor tensor{DType::kU32, std::move(shape), {}};
  for (int64_t i = product(tensor.shape); i > 0; --i) {
    append(tensor.bytes, static_cast<uint32_t>(random()));
  }
  return tensor;
}

void add_affine(TestTensors& tensors, const std::string& module, std::vector<int64_t> lead,
                int64_t cols, int64_t bits, int64_t group, uint32_t seed) {
  std::vector<int64_t> words = lead;
  words.push_back(cols * bits / 32);
  std::vector<int64_t> groups = std::move(lead);
  groups.push_back(cols / group);
  tensors[module + ".weight"] = random_words(words, seed);
  tensors[module + ".scales"] = random_floats(DType::kBF16, groups, seed + 1);
  tensors[module + ".biases"] = random_floats(DType::kBF16, groups, seed + 2);
}

std::string raw_safetensors(std::string_view header, std::string_view data) {
  std::string file;
  append(file, static_cast<uint64_t>(header.size()));
  file += header;
  file += data;
  return file;
}

std::string safetensors_file(const TestTensors& tensors,
                             const std::map<std::string, std::string>& metadata) {
  json::object header;
  if (!metadata.empty()) {
    json::object& object = header["__metadata__"].emplace_object();
    for (const auto& [key, value] : metadata) object[key] = value;
  }
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    json::object& entry = header[name].emplace_object();
    entry["dtype"] = to_string(tensor.dtype);
    entry["shape"] = json::array(tensor.shape.begin(), tensor.shape.end());
    entry["data_offsets"] = {data.size(), data.size() + tensor.bytes.size()};
    data += tensor.bytes;
  }
  return raw_safetensors(dump_json(header), data);
}

}  // namespace lockstep
