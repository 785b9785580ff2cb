// For tests: safetensors files, right ones and broken ones, written by hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace lockstep {

// A fresh folder, removed with everything in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::string_view contents);

struct TestTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string bytes;  // size_of(dtype) for each element

  bool operator==(const TestTensor&) const = default;
};
using TestTensors = std::map<std::string, TestTensor>;

// A float tensor with these values, rounded to `dtype`.
TestTensor float_tensor(DType dtype, std::vector<int64_t> shape, const std::vector<float>& values);
// Seeded values around `mean`.
TestTensor random_floats(DType dtype, std::vector<int64_t> shape, uint32_t seed, float mean = 0.0f);
TestTensor random_words(std::vector<int64_t> shape, uint32_t seed);

// Adds `module`.weight, .scales and .biases in MLX's affine form: `lead` is every size but the
// last.
void add_affine(TestTensors& tensors, const std::string& module, std::vector<int64_t> lead,
                int64_t cols, int64_t bits, int64_t group, uint32_t seed);

// A safetensors file of this header text, whatever it says, and these data.
std::string raw_safetensors(std::string_view header, std::string_view data);
std::string safetensors_file(const TestTensors& tensors,
                             const std::map<std::string, std::string>& metadata = {});

}  // namespace lockstep
