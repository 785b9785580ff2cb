// For tests: two checkpoints hold the same model, whatever their layouts.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "checkpoint/head_source.h"
#include "checkpoint/source_tensor.h"

namespace lockstep {

// All values of a tensor, in the order and the conventions of a Hugging Face checkpoint.
inline std::vector<float> values_of(Checkpoint& checkpoint, const ModelTensor& tensor) {
  const auto rows = SourceTensor::read(checkpoint, tensor, {});
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  const SourceTensor& source = rows.value();
  std::vector<float> values(static_cast<size_t>(source.rows() * source.cols()));
  for (int64_t row = 0; row < source.rows(); ++row) {
    source.decode(row, values.data() + row * source.cols());
  }
  return values;
}

// Up to what a way through GGUF and back may round.
inline void expect_same_model(Checkpoint& got, Checkpoint& want) {
  const bool own_head = want.head_module == kHeadModule;
  for (const ModelTensor& tensor : model_tensors(want.config, own_head)) {
    const std::vector<float> ours = values_of(got, tensor);
    const std::vector<float> theirs = values_of(want, tensor);
    ASSERT_EQ(ours.size(), theirs.size()) << tensor.name;
    // exp and log, each rounded to float32, and 1 + w, which keeps 2^-24 of 1.
    const bool decay = tensor.kind == TensorKind::kDecay;
    const bool norm = tensor.kind == TensorKind::kZeroCentredNorm;
    for (size_t i = 0; i < ours.size(); ++i) {
      ASSERT_NEAR(ours[i], theirs[i],
                  decay  ? 4e-7
                  : norm ? 0x1p-24
                         : 0.0)
          << tensor.name << ", element " << i;
    }
  }
}

}  // namespace lockstep
