#include "formats/matrix.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/float16.h"

namespace lockstep {
namespace {

std::vector<std::byte> pack(const std::vector<uint8_t>& values, int bits) {
  std::vector<std::byte> stream(values.size() * static_cast<size_t>(bits) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    for (int b = 0; b < bits; ++b) {
      const size_t bit = i * static_cast<size_t>(bits) + static_cast<size_t>(b);
      if ((values[i] >> b) & 1) stream[bit / 8] |= std::byte{1} << (bit % 8);
    }
  }
  return stream;
}

TEST(Matrix, UnpacksEveryWidth) {
  std::mt19937 random(7);
  for (int bits : {2, 3, 4, 5, 6, 8}) {
    constexpr int64_t kRows = 3;
    constexpr int64_t kCols = 64;
    std::vector<uint8_t> values(kRows * kCols);
    for (uint8_t& v : values) v = static_cast<uint8_t>(random() & ((1u << bits) - 1u));
    const std::vector<std::byte> stream = pack(values, bits);
    MatrixView view{.encoding = Encoding::kAffine,
                    .dtype = DType::kBF16,
                    .bits = bits,
                    .group = 32,
                    .rows = kRows,
                    .cols = kCols,
                    .data = stream.data()};
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<uint8_t> out(kCols);
      unpack_row(view, row, out.data());
      EXPECT_EQ(0, std::memcmp(out.data(), values.data() + row * kCols, kCols)) << bits;
    }
    std::vector<uint8_t> last(kCols);
    unpack_row(view.row_slice(2, 1), 0, last.data());
    EXPECT_EQ(0, std::memcmp(last.data(), values.data() + 2 * kCols, kCols));
  }
}

TEST(Matrix, DecodesAffineWithOneRounding) {
  const std::vector<uint8_t> values(32, 3);
  const std::vector<std::byte> stream = pack(values, 2);
  const uint16_t scale = float_to_bf16(-0.0123f);
  const uint16_t bias = float_to_bf16(0.5f);
  const MatrixView view{.encoding = Encoding::kAffine,
                        .dtype = DType::kBF16,
                        .bits = 2,
                        .group = 32,
                        .rows = 1,
                        .cols = 32,
                        .data = stream.data(),
                        .scales = reinterpret_cast<const std::byte*>(&scale),
                        .biases = reinterpret_cast<const std::byte*>(&bias)};
  std::vector<float> out(32);
  decode_row(view, 0, out.data());
  const double exact = 3.0 * bf16_to_float(scale) + bf16_to_float(bias);
  for (float v : out) EXPECT_EQ(v, static_cast<float>(exact));
}

TEST(Matrix, DecodesDenseAtAnyAddress) {
  std::vector<std::byte> bytes(1 + 4 * 2);
  const uint16_t halves[4] = {float_to_f16(1.5f), float_to_f16(-2.0f), float_to_f16(0.0f),
                              float_to_f16(65504.0f)};
  std::memcpy(bytes.data() + 1, halves, sizeof(halves));
  const MatrixView view{.dtype = DType::kF16, .rows = 2, .cols = 2, .data = bytes.data() + 1};
  float row[2];
  decode_row(view, 1, row);
  EXPECT_EQ(row[0], 0.0f);
  EXPECT_EQ(row[1], 65504.0f);
}

TEST(Matrix, StackFindsItsMembers) {
  const std::vector<float> data(6 * 2);
  MatrixStack stack{
      .first = {.rows = 1, .cols = 2, .data = reinterpret_cast<const std::byte*>(data.data())},
      .count = 3,
      .stride_rows = 2};
  EXPECT_EQ(stack.at(2).data - stack.first.data, 4 * 2 * 4);
  EXPECT_EQ(stack.at(2).rows, 1);
}

}  // namespace
}  // namespace lockstep
