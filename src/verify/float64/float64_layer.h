// The mixers and FFNs of the float64 pass. Inside src/verify/float64 only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lockstep::verify {

using Rows = std::vector<double>;  // [rows, width], row after row

// What the parts of one layer share.
struct Float64Run {
  const Model& model;
  int64_t rows = 0;
  // Shows a stage of the layer; never empty.
  std::function<void(std::string_view stage, std::span<const double> data, int64_t width)> show;
};

// y [rows, N] = x W^T, x [rows, K].
Rows product(const MatrixView& weight, std::span<const double> x);
// [rows, n] of rows `stride` apart.
Rows normed(const Float64Run& run, const double* x, int64_t stride,
            const std::vector<float>& weight, int64_t rows);

// Each takes the normed rows [rows, H] and gives the branch [rows, H].
Rows attention_branch(const Float64Run& run, const AttentionWeights& weights, const Rows& x);
Rows delta_branch(const Float64Run& run, const DeltaWeights& weights, const Rows& x);
Rows ffn_branch(const Float64Run& run, const DenseFfnWeights& weights, const Rows& x);
Rows ffn_branch(const Float64Run& run, const MoeWeights& weights, const Rows& x);

}  // namespace lockstep::verify
