// Dense and affine weights with float32 activations. For several rows, a block of K of some weight
// rows is decoded once and meets up to 16 rows, whose accumulators stay beside it.
#include <algorithm>

#include "kernels/linear/cpu.h"
#include "kernels/linear/float_row.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr int64_t kOutputs = 16;
constexpr int64_t kRows = 16;
constexpr int64_t kBlock = 128;

// Accumulators of one step in registers: 16 vectors of 16 floats with AVX-512, 4 (8 registers) with
// narrower ones, beside the weights and a row.
#if defined(LOCKSTEP_ISA_AVX512)
constexpr int kStepOutputs = 4;
constexpr int kStepRows = 4;
#else
constexpr int kStepOutputs = 2;
constexpr int kStepRows = 2;
#endif

// A block of up to 16 rows, close together: where they are, a power of two apart, they would meet
// in few sets of the first-level cache.
struct CopiedRows {
  alignas(64) float x[kRows][kBlock];

  void copy(const float* const* rows, int64_t row_count, int64_t begin, int64_t count,
            const float** block) {
    for (int64_t r = 0; r < row_count; ++r) {
      int64_t k = 0;
      for (; k + kLanes <= count; k += kLanes) F32x16::load(rows[r] + begin + k).store(x[r] + k);
      if (k < count) load_partial(rows[r] + begin + k, count - k).store(x[r] + k);
      block[r] = x[r];
    }
  }
};

// acc[o * kRows + r] takes `count` products of weight row w + o * kBlock and row x[r], both padded
// with zeros to a multiple of 16.
template <int kO, int kR>
void accumulate(const float* w, const float* const* x, int64_t count, F32x16* acc) {
  F32x16 a[kO][kR];
#pragma GCC unroll 4
  for (int o = 0; o < kO; ++o) {
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) a[o][r] = acc[o * kRows + r];
  }
  for (int64_t k = 0; k < count; k += kLanes) {
    F32x16 weights[kO];
#pragma GCC unroll 4
    for (int o = 0; o < kO; ++o) weights[o] = F32x16::load(w + o * kBlock + k);
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
      const F32x16 row = F32x16::load(x[r] + k);
#pragma GCC unroll 4
      for (int o = 0; o < kO; ++o) a[o][r] = fma(row, weights[o], a[o][r]);
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kO; ++o) {
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) acc[o * kRows + r] = a[o][r];
  }
}

template <int kO>
void accumulate_rows(const float* w, const float* const* x, int64_t rows, int64_t count,
                     F32x16* acc) {
  int64_t r = 0;
  for (; r + kStepRows <= rows; r += kStepRows) {
    accumulate<kO, kStepRows>(w, x + r, count, acc + r);
  }
  for (; r < rows; ++r) accumulate<kO, 1>(w, x + r, count, acc + r);
}

void multiply_rows(const MatrixView& weight, int64_t output, int64_t outputs, const float* const* x,
                   float* const* y, int64_t rows) {
  alignas(64) float w[kStepOutputs * kBlock];
  F32x16 acc[kOutputs * kRows];
  for (F32x16& a : acc) a = F32x16::zero();
  CopiedRows copied;
  for (int64_t begin = 0; begin < weight.cols; begin += kBlock) {
    const int64_t count = std::min(kBlock, weight.cols - begin);
    const float* block[kRows];
    copied.copy(x, rows, begin, count, block);
    int64_t o = 0;
    for (; o + kStepOutputs <= outputs; o += kStepOutputs) {
      for (int64_t i = 0; i < kStepOutputs; ++i) {
        decode_elements(weight, output + o + i, begin, count, w + i * kBlock);
      }
      accumulate_rows<kStepOutputs>(w, block, rows, count, acc + o * kRows);
    }
    for (; o < outputs; ++o) {
      decode_elements(weight, output + o, begin, count, w);
      accumulate_rows<1>(w, block, rows, count, acc + o * kRows);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outputs; ++o) y[r][output + o] = reduce_add(acc[o * kRows + r]);
  }
}

}  // namespace

void linear_float_tile(const LinearTile& tile) {
  const MatrixView& weight = tile.weight;
  for (int64_t first = 0; first < tile.rows; first += kRows) {
    const int64_t count = std::min(kRows, tile.rows - first);
    const float* x[kRows];
    float* y[kRows];
    for (int64_t r = 0; r < count; ++r) {
      x[r] = tile.x + tile.source(first + r) * weight.cols;
      y[r] = tile.y + tile.target(first + r) * tile.y_stride;
    }
    if (count == 1) {
      multiply_row(weight, x[0], y[0]);
      continue;
    }
    for (int64_t output = 0; output < weight.rows; output += kOutputs) {
      multiply_rows(weight, output, std::min(kOutputs, weight.rows - output), x, y, count);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
