// Products with MLX affine 4-bit weights on tensor cores: y[row, n] = sum_k x[row, k] * w[n, k].
// Few-row and many-row kernels of one `Way` give the same bits.
//
// Order (docs/numerics.md, rule 14). Exact integers: p = tensor core sum of q * bf16(x) over a
// group of 64, four k16 steps from +0; part = fma(scale, p, part) over the groups of a part,
// ascending, from +0; then part = tensor core sum of part and, for each eight groups, one k16 step
// of biases times the high and the low halves of the groups' activation sums; y = y + part,
// ascending, from +0. Rounded weights: part = tensor core sum over the whole part from +0; y = y +
// part, ascending.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

struct CUstream_st;

namespace lockstep::cuda {

using Stream = CUstream_st*;

enum class Way {
  kExactIntegers,   // q enters exactly; each group's sum is scaled in float32
  kRoundedWeights,  // bf16(q * scale + bias) enters; no scaling afterwards
};

// Groups of 64 a part: a constant of the weight's shape.
constexpr int part_groups(int64_t inputs) { return inputs > 8192 ? 16 : 8; }

// Device pointers in the layout of cuda_affine4.cuh.
struct Affine4Tiles {
  const uint8_t* q = nullptr;
  const uint8_t* scales = nullptr;
  const uint8_t* biases = nullptr;
  int outputs = 0;  // a multiple of 16; of 256 for the many-row kernel
  int inputs = 0;   // a multiple of 512

  constexpr int groups() const { return inputs / 64; }
  size_t q_bytes() const { return static_cast<size_t>(outputs) * inputs / 2; }
  // Of the scales, and of the biases.
  size_t scale_bytes() const { return static_cast<size_t>(outputs) * groups() * 2; }
};

// Columns of the group sums of one activation row: for each eight groups their high, then their low
// halves; padded to whole k64 tiles.
constexpr int sum_columns(int64_t inputs) { return static_cast<int>((inputs / 64 + 31) / 32) * 64; }

// Rows of activations as the products read them.
struct Activations {
  const uint16_t* x = nullptr;     // bf16 [rows, inputs], times 2^64 for exact integers
  const uint16_t* sums = nullptr;  // bf16 [rows, sum_columns(inputs)]
  int rows = 0;
};

// A run of consecutive activation rows that meets one matrix of a stack.
struct RowRun {
  int matrix = 0;  // the stack's matrices have `outputs` rows each
  int first = 0;   // row of the output; of the activations too when there is no row list
  int count = 0;
};

struct LinearArgs {
  Affine4Tiles weights;  // of one matrix; the stack's others follow it
  Activations in;
  float* out = nullptr;  // [rows, outputs]
  // For a stack: `runs` on the device, `run_count` of them there, at most `max_runs`.
  const RowRun* runs = nullptr;
  const int* run_count = nullptr;
  int max_runs = 0;
  const int* row_list = nullptr;  // few rows only: activation row of each output row
  int matrices = 1;
  bool overlap = false;  // may begin before the previous kernel of the stream has ended
};

// MLX storage (q [outputs, inputs / 8] words, scales and biases bf16 [outputs, inputs / 64], device
// memory) to tiles.
Status pack_affine4(Way way, const uint32_t* q, const uint16_t* scales, const uint16_t* biases,
                    int outputs, int inputs, uint8_t* tile_q, uint8_t* tile_scales,
                    uint8_t* tile_biases, Stream stream);

// float32 rows to `x` and `sums`. A group's sum: pairs (2l, 2l+1) of the rounded values, then the
// butterfly 16-8-4-2-1 over l; kept as two bf16 (16 significant bits).
Status round_activations(Way way, const float* in, int rows, int inputs, uint16_t* x,
                         uint16_t* sums, bool overlap, Stream stream);

// Rows of `in` in the order of a list, for a stack's many-row product.
Status gather_activations(const Activations& in, int inputs, const int* row_list, int count,
                          uint16_t* x, uint16_t* sums, Stream stream);

// How the few-row kernel spreads its work; no bits depend on it. Zero: chosen by the shape.
struct FewRowSpread {
  int ranks = 0;            // blocks of a cluster that share the parts of K: 1, 2, 4 or 8
  int warps = 0;            // a block: 8 or 16
  int prefetch_bytes = -1;  // a block, to L2, while the previous kernel ends; negative: chosen
};

// At most 16 rows (8 a run); refused when they do not fit in shared memory.
Status linear_few_row(Way way, const LinearArgs& args, Stream stream, FewRowSpread spread = {});

// Any number of rows. `tokens` is the tile width, 64 or 128: no bits depend on it.
Status linear_many_row_sm90(Way way, const LinearArgs& args, int tokens, Stream stream);

}  // namespace lockstep::cuda
