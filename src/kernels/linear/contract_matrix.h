// Seeded weights of any size for contracts: the rows of a TestMatrix over and over, in memory of
// their own, at odd addresses.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/matrix.h"
#include "kernels/contract/op_contract.h"

namespace lockstep::contract {

class ContractMatrix {
 public:
  // `shape` says encoding, rows and columns; its pointers do not matter.
  ContractMatrix(const MatrixView& shape, uint64_t seed);
  ContractMatrix(const ContractMatrix&) = delete;
  ContractMatrix& operator=(const ContractMatrix&) = delete;

  const MatrixView& view() const { return view_; }

  // Activation groups 16 apart meet equal weights: every weight of an affine row becomes the same
  // positive value, near 1; a row of blocks becomes its first block over and over.
  void make_alike();
  // Weight (row, k), or the scale of its group or block, becomes `value`.
  void spoil(int64_t row, int64_t k, float value);

 private:
  MatrixView view_;
  std::vector<std::byte> data_, scales_, biases_;
};

// What a kernel that decodes such weights asks of their shape.
std::vector<Limit> weight_limits(const ShapeClass& shape);

}  // namespace lockstep::contract
