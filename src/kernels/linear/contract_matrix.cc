#include "kernels/linear/contract_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "formats/affine_quantiser.h"
#include "kernels/linear/test_matrix.h"
#include "kernels/linear/weight_class.h"

namespace lockstep::contract {
namespace {

// Different rows; a prime, so that no tile or task of a kernel sees a period.
constexpr int64_t kDistinctRows = 1021;
constexpr size_t kOffset = 3;

// `rows` rows of `bytes` each, those of `from` over and over.
const std::byte* repeat(const std::byte* from, int64_t distinct, int64_t rows, size_t bytes,
                        std::vector<std::byte>& storage) {
  storage.resize(kOffset + static_cast<size_t>(rows) * bytes);
  for (int64_t row = 0; row < rows; row += distinct) {
    const auto count = static_cast<size_t>(std::min(distinct, rows - row));
    std::memcpy(storage.data() + kOffset + static_cast<size_t>(row) * bytes, from, count * bytes);
  }
  return storage.data() + kOffset;
}

}  // namespace

ContractMatrix::ContractMatrix(const MatrixView& shape, uint64_t seed) : view_(shape) {
  const int64_t distinct = std::min(shape.rows, kDistinctRows);
  const TestMatrix made({shape.encoding, shape.dtype, shape.bits, shape.group, shape.block},
                        distinct, shape.cols, seed);
  const MatrixView& from = made.view();
  view_.data = repeat(from.data, distinct, shape.rows, view_.row_bytes(), data_);
  if (view_.scale_row_bytes() == 0) return;
  view_.scales = repeat(from.scales, distinct, shape.rows, view_.scale_row_bytes(), scales_);
  view_.biases = repeat(from.biases, distinct, shape.rows, view_.scale_row_bytes(), biases_);
}

void ContractMatrix::make_alike() {
  if (view_.encoding == Encoding::kBlocks) {
    const auto bytes = static_cast<size_t>(block_shape(view_.block).bytes);
    for (size_t at = kOffset; at < data_.size(); at += bytes) {
      const size_t row = (at - kOffset) / view_.row_bytes();
      std::memmove(data_.data() + at, data_.data() + kOffset + row * view_.row_bytes(), bytes);
    }
    return;
  }
  LOCKSTEP_CHECK(view_.encoding == Encoding::kAffine, "say how weights are made alike");
  std::fill(data_.begin(), data_.end(), std::byte{0xff});
  const size_t size = size_of(view_.dtype);
  const auto largest = static_cast<float>((1 << view_.bits) - 1);
  for (int64_t row = 0; row < view_.rows; ++row) {
    const float scale = (0.75f + 0.015625f * static_cast<float>(row % 16)) / largest;
    for (size_t at = kOffset + static_cast<size_t>(row) * view_.scale_row_bytes();
         at < kOffset + static_cast<size_t>(row + 1) * view_.scale_row_bytes(); at += size) {
      store_float(scale, view_.dtype, scales_.data() + at);
      store_float(0.25f, view_.dtype, biases_.data() + at);
    }
  }
}

void ContractMatrix::spoil(int64_t row, int64_t k, float value) {
  const size_t size = size_of(view_.dtype);
  const auto r = static_cast<size_t>(row);
  std::byte* data = data_.data() + kOffset + r * view_.row_bytes();
  if (view_.encoding == Encoding::kDense) {
    store_float(value, view_.dtype, data + static_cast<size_t>(k) * size);
    return;
  }
  if (view_.encoding == Encoding::kBlocks) {
    const BlockShape block = block_shape(view_.block);
    const auto at = static_cast<size_t>(k / block.elements * block.bytes);
    store_float(value, DType::kF16, data + at + block_factors(view_.block).d);
    return;
  }
  LOCKSTEP_CHECK(view_.encoding == Encoding::kAffine,
                 "say how a weight of this encoding is spoilt");
  store_float(value, view_.dtype,
              scales_.data() + kOffset + r * view_.scale_row_bytes() +
                  static_cast<size_t>(k / view_.group) * size);
}

std::vector<Limit> weight_limits(const ShapeClass& shape) {
  const MatrixView weight = weight_of_class(shape);
  switch (weight.encoding) {
    case Encoding::kDense:
      return {};
    case Encoding::kAffine:
      return {{.what = "k", .value = weight.cols, .multiple_of = std::max(1, weight.group)},
              {.what = "group", .value = weight.group, .multiple_of = kActivationGroup}};
    case Encoding::kBlocks:
      return {
          {.what = "k", .value = weight.cols, .multiple_of = block_shape(weight.block).elements}};
  }
  return {};
}

}  // namespace lockstep::contract
