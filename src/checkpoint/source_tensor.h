// A tensor of an opened checkpoint as rows of float32 values in the conventions of another layout.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/model_tensors.h"
#include "formats/matrix.h"

namespace lockstep {

// What a layout's numbers mean.
struct Conventions {
  bool norms_with_one = false;  // zero-centred norms as 1 + w, else as w
  bool negative_decay = false;  // -exp(A_log), else A_log
  ValueHeads order = ValueHeads::kGrouped;
};

class SourceTensor {
 public:
  // Reads and marks the tensor as matrix_reader.h does; the checkpoint must outlive it. What is
  // already as wanted is not computed with.
  static Result<SourceTensor> read(Checkpoint& checkpoint, const ModelTensor& tensor,
                                   const Conventions& wanted);

  int64_t rows() const { return stack_.count * stack_.first.rows; }  // of all experts
  int64_t cols() const { return stack_.first.cols; }
  // How the rows are stored: encoding and columns.
  const MatrixView& format() const { return stack_.first; }

  // Writes cols() values.
  void decode(int64_t row, float* out) const;
  // The row as a matrix of its own; nullopt where the columns are stored in another order.
  std::optional<MatrixView> stored_row(int64_t row) const;

 private:
  SourceTensor() = default;
  Status read_values(Checkpoint& checkpoint, const ModelTensor& tensor, const Conventions& wanted);
  MatrixView row_view(int64_t row) const;

  MatrixStack stack_;
  std::vector<float> values_;  // of vectors and convolutions; stack_ views them
  // From places in the wanted order to stored ones; empty: the same.
  std::vector<int64_t> row_order_, column_order_;
};

}  // namespace lockstep
