// Dense and affine weights with float32 activations: blocks of K of four weight rows are decoded
// once and meet up to 16 rows, whose accumulators stay beside them.
#include <algorithm>

#include "kernels/linear/cpu.h"
#include "kernels/simd/decode.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr int64_t kOutputs = 4;
constexpr int64_t kRows = 16;
constexpr int64_t kBlock = 256;

// acc[o * kRows + r] takes `count` products of weight row w + o * kBlock and row x[r] + begin; w is
// padded with zeros to a multiple of 16.
template <int kO, int kR>
void accumulate(const float* w, const float* const* x, int64_t begin, int64_t count, F32x16* acc) {
  F32x16 a[kO][kR];
  for (int o = 0; o < kO; ++o) {
    for (int r = 0; r < kR; ++r) a[o][r] = acc[o * kRows + r];
  }
  const auto step = [&](int64_t k, const auto& load_row) {
    F32x16 weights[kO];
    for (int o = 0; o < kO; ++o) weights[o] = F32x16::load(w + o * kBlock + k);
    for (int r = 0; r < kR; ++r) {
      const F32x16 row = load_row(x[r] + begin + k);
      for (int o = 0; o < kO; ++o) a[o][r] = fma(row, weights[o], a[o][r]);
    }
  };
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    step(k, [](const float* row) { return F32x16::load(row); });
  }
  if (k < count) {
    step(k, [&](const float* row) { return load_partial(row, count - k); });
  }
  for (int o = 0; o < kO; ++o) {
    for (int r = 0; r < kR; ++r) acc[o * kRows + r] = a[o][r];
  }
}

template <int kO>
void accumulate_rows(const float* w, const float* const* x, int64_t rows, int64_t begin,
                     int64_t count, F32x16* acc) {
  for (int64_t r = 0; r < rows; ++r) accumulate<kO, 1>(w, x + r, begin, count, acc + r);
}

void multiply(const LinearTile& tile, int64_t output, int64_t outputs, const float* const* x,
              float* const* y, int64_t rows) {
  alignas(64) float w[kOutputs * kBlock];
  F32x16 acc[kOutputs * kRows];
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t r = 0; r < rows; ++r) acc[o * kRows + r] = F32x16::zero();
  }
  const int64_t cols = tile.weight.cols;
  for (int64_t begin = 0; begin < cols; begin += kBlock) {
    const int64_t count = std::min(kBlock, cols - begin);
    for (int64_t o = 0; o < outputs; ++o) {
      decode_elements(tile.weight, output + o, begin, count, w + o * kBlock);
    }
    if (outputs == kOutputs) {
      accumulate_rows<kOutputs>(w, x, rows, begin, count, acc);
    } else {
      for (int64_t o = 0; o < outputs; ++o) {
        accumulate_rows<1>(w + o * kBlock, x, rows, begin, count, acc + o * kRows);
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outputs; ++o) y[r][output + o] = reduce_add(acc[o * kRows + r]);
  }
}

}  // namespace

void linear_float_tile(const LinearTile& tile) {
  for (int64_t first = 0; first < tile.rows; first += kRows) {
    const int64_t rows = std::min(kRows, tile.rows - first);
    const float* x[kRows];
    float* y[kRows];
    for (int64_t r = 0; r < rows; ++r) {
      x[r] = tile.x + tile.source(first + r) * tile.weight.cols;
      y[r] = tile.y + tile.target(first + r) * tile.y_stride;
    }
    for (int64_t output = 0; output < tile.weight.rows; output += kOutputs) {
      multiply(tile, output, std::min(kOutputs, tile.weight.rows - output), x, y, rows);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
