// Dense and affine weights with float32 activations. For several rows, blocks of K of four weight
// rows are decoded once and meet up to 16 rows, whose accumulators stay beside them.
#include <algorithm>

#include "kernels/linear/cpu.h"
#include "kernels/linear/float_row.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr int64_t kOutputs = 4;
constexpr int64_t kRows = 16;
constexpr int64_t kBlock = 256;

// Accumulators of one step in registers: 16 vectors of 16 floats with AVX-512, 4 (8 registers) with
// narrower ones, beside the weights and a row.
#if defined(LOCKSTEP_ISA_AVX512)
constexpr int kStepOutputs = 4;
constexpr int kStepRows = 4;
#else
constexpr int kStepOutputs = 2;
constexpr int kStepRows = 2;
#endif

// What up to 16 rows need of themselves.
struct RowPointers {
  const float* x[kRows];
  float* y[kRows];
};

// acc[o * kRows + r] takes `count` products of weight row w + o * kBlock and row x[r] + begin; w is
// padded with zeros to a multiple of 16.
template <int kO, int kR>
void accumulate(const float* w, const float* const* x, int64_t begin, int64_t count, F32x16* acc) {
  F32x16 a[kO][kR];
#pragma GCC unroll 4
  for (int o = 0; o < kO; ++o) {
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) a[o][r] = acc[o * kRows + r];
  }
  const auto step = [&](int64_t k, const auto& load_row) {
    F32x16 weights[kO];
#pragma GCC unroll 4
    for (int o = 0; o < kO; ++o) weights[o] = F32x16::load(w + o * kBlock + k);
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
      const F32x16 row = load_row(x[r] + begin + k);
#pragma GCC unroll 4
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
#pragma GCC unroll 4
  for (int o = 0; o < kO; ++o) {
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) acc[o * kRows + r] = a[o][r];
  }
}

template <int kO>
void accumulate_rows(const float* w, const float* const* x, int64_t rows, int64_t begin,
                     int64_t count, F32x16* acc) {
  int64_t r = 0;
  for (; r + kStepRows <= rows; r += kStepRows) {
    accumulate<kO, kStepRows>(w, x + r, begin, count, acc + r);
  }
  for (; r < rows; ++r) accumulate<kO, 1>(w, x + r, begin, count, acc + r);
}

void multiply_rows(const MatrixView& weight, int64_t output, int64_t outputs,
                   const RowPointers& rows, int64_t row_count) {
  alignas(64) float w[kOutputs * kBlock];
  F32x16 acc[kOutputs * kRows];
  for (F32x16& a : acc) a = F32x16::zero();
  for (int64_t begin = 0; begin < weight.cols; begin += kBlock) {
    const int64_t count = std::min(kBlock, weight.cols - begin);
    for (int64_t o = 0; o < outputs; ++o) {
      decode_elements(weight, output + o, begin, count, w + o * kBlock);
    }
    int64_t o = 0;
    for (; o + kStepOutputs <= outputs; o += kStepOutputs) {
      accumulate_rows<kStepOutputs>(w + o * kBlock, rows.x, row_count, begin, count,
                                    acc + o * kRows);
    }
    for (; o < outputs; ++o) {
      accumulate_rows<1>(w + o * kBlock, rows.x, row_count, begin, count, acc + o * kRows);
    }
  }
  for (int64_t r = 0; r < row_count; ++r) {
    for (int64_t o = 0; o < outputs; ++o) rows.y[r][output + o] = reduce_add(acc[o * kRows + r]);
  }
}

}  // namespace

void linear_float_tile(const LinearTile& tile) {
  const MatrixView& weight = tile.weight;
  for (int64_t first = 0; first < tile.rows; first += kRows) {
    const int64_t count = std::min(kRows, tile.rows - first);
    RowPointers rows;
    for (int64_t r = 0; r < count; ++r) {
      rows.x[r] = tile.x + tile.source(first + r) * weight.cols;
      rows.y[r] = tile.y + tile.target(first + r) * tile.y_stride;
    }
    if (count == 1) {
      multiply_row(weight, rows.x[0], rows.y[0]);
      continue;
    }
    for (int64_t output = 0; output < weight.rows; output += kOutputs) {
      multiply_rows(weight, output, std::min(kOutputs, weight.rows - output), rows, count);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
