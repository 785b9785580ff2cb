// Seeded weight matrices for tests: every encoding, exact allocations (so that a sanitizer sees a
// read beyond the end) and data at odd addresses.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/float16.h"
#include "formats/matrix.h"
#include "kernels/contract/random.h"
#include "kernels/linear/linear.h"

namespace lockstep::contract {

struct WeightKind {
  Encoding encoding = Encoding::kDense;
  DType dtype = DType::kF32;
  int bits = 0;
  int group = 0;
  BlockType block = {};

  bool takes_int8() const { return lockstep::takes_int8({.encoding = encoding, .block = block}); }
  std::string name() const {
    if (encoding == Encoding::kDense) return std::string("dense ") + to_string(dtype);
    if (encoding == Encoding::kBlocks) return to_string(block);
    return std::to_string(bits) + " bits, group " + std::to_string(group) + ", scales " +
           to_string(dtype);
  }
};

inline WeightKind dense(DType dtype) { return {.dtype = dtype}; }
inline WeightKind affine(int bits, int group, DType dtype = DType::kBF16) {
  return {.encoding = Encoding::kAffine, .dtype = dtype, .bits = bits, .group = group};
}

inline WeightKind blocks(BlockType type) { return {.encoding = Encoding::kBlocks, .block = type}; }

// Where a block's binary16 factors lie: at most two, unused ones repeat the first.
struct BlockFactors {
  int d;
  int m;
};
constexpr BlockFactors block_factors(BlockType type) {
  constexpr BlockFactors kFactors[kBlockTypes] = {{0, 0}, {0, 2},     {0, 0},     {0, 2},
                                                  {0, 0}, {80, 82},   {108, 108}, {0, 2},
                                                  {0, 2}, {208, 208}, {0, 0},     {0, 0}};
  return kFactors[static_cast<int>(type)];
}

class TestMatrix {
 public:
  TestMatrix(const WeightKind& kind, int64_t rows, int64_t cols, uint64_t seed) {
    Random random(seed);
    view_ = {.encoding = kind.encoding,
             .dtype = kind.dtype,
             .bits = kind.bits,
             .group = kind.group,
             .block = kind.block,
             .rows = rows,
             .cols = cols};
    if (kind.encoding == Encoding::kDense) {
      view_.data = floats(data_, random.normals(rows * cols, 0.5), kind.dtype);
      return;
    }
    data_.resize(kOffset + static_cast<size_t>(rows) * view_.row_bytes());
    for (std::byte& byte : data_) byte = static_cast<std::byte>(random.bits());
    view_.data = data_.data() + kOffset;
    if (kind.encoding == Encoding::kBlocks) {
      set_block_factors(random);
      return;
    }
    // Scales of both signs; biases that bring most weights near zero, as real ones are.
    const int64_t count = rows * (cols / kind.group);
    std::vector<float> scales = random.normals(count, 0.1);
    std::vector<float> biases = random.normals(count, 0.1);
    const auto middle = static_cast<float>((1 << kind.bits) / 2);
    for (size_t i = 0; i < scales.size(); ++i) biases[i] -= scales[i] * middle;
    view_.scales = floats(scales_, scales, kind.dtype);
    view_.biases = floats(biases_, biases, kind.dtype);
  }

  const MatrixView& view() const { return view_; }

  // Sets every bit of the packed integers.
  void set_all_bits() { std::fill(data_.begin(), data_.end(), std::byte{0xff}); }

  // Sets every byte of the blocks but their binary16 factors.
  void fill_blocks(std::byte value) {
    std::fill(data_.begin(), data_.end(), value);
    Random random(1);
    set_block_factors(random);
  }

 private:
  static constexpr size_t kOffset = 3;

  // Random bytes could be NaN or huge.
  void set_block_factors(Random& random) {
    const BlockFactors at = block_factors(view_.block);
    const auto bytes = static_cast<size_t>(block_shape(view_.block).bytes);
    const size_t count = (data_.size() - kOffset) / bytes;
    const std::vector<float> factors = random.normals(static_cast<int64_t>(2 * count), 0.05);
    for (size_t i = 0; i < count; ++i) {
      std::byte* block = data_.data() + kOffset + i * bytes;
      const uint16_t d = float_to_f16(factors[2 * i]);
      const uint16_t m = float_to_f16(factors[2 * i + 1]);
      std::memcpy(block + at.m, &m, sizeof(m));
      std::memcpy(block + at.d, &d, sizeof(d));
    }
  }

  static const std::byte* floats(std::vector<std::byte>& out, const std::vector<float>& values,
                                 DType dtype) {
    const size_t size = size_of(dtype);
    out.resize(kOffset + values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
      std::byte* address = out.data() + kOffset + i * size;
      if (dtype == DType::kF32) std::memcpy(address, &values[i], size);
      const uint16_t half =
          dtype == DType::kF16 ? float_to_f16(values[i]) : float_to_bf16(values[i]);
      if (dtype != DType::kF32) std::memcpy(address, &half, size);
    }
    return out.data() + kOffset;
  }

  MatrixView view_;
  std::vector<std::byte> data_, scales_, biases_;
};

inline std::vector<ActivationBlock> quantized_rows(const CpuContext& context, const float* x,
                                                   int64_t rows, int64_t k) {
  std::vector<ActivationBlock> blocks(static_cast<size_t>(rows * activation_blocks(k)));
  run_quantize_rows(context, {.x = x, .rows = rows, .k = k, .out = blocks.data()});
  return blocks;
}

}  // namespace lockstep::contract
