// A model ready to run: its configuration, its weights and what follows from the two.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "model/precision.h"
#include "model/state_shape.h"
#include "model/weights.h"

namespace lockstep {

struct ModelOptions {
  Precision precision = Precision::kInt8;
  // Ids at or above it are -infinity in every logit row: the number of ids the tokenizer knows. 0:
  // all of the vocabulary.
  int64_t token_limit = 0;
  // Accept a checkpoint with tensors that nothing reads and nothing explains.
  bool allow_unused = false;
};

class Model {
 public:
  static Result<Model> make(Checkpoint checkpoint, const ModelOptions& options);

  const ModelConfig& config() const { return checkpoint_->config; }
  const Checkpoint& checkpoint() const { return *checkpoint_; }
  const ModelWeights& weights() const { return weights_; }
  Precision precision() const { return options_.precision; }
  int64_t token_limit() const { return options_.token_limit; }
  const StateShape& state_shape() const { return state_shape_; }
  const StateShape& draft_state_shape() const { return draft_state_shape_; }
  const std::vector<float>& rope_frequencies() const { return rope_frequencies_; }  // [R / 2]
  float rope_scale() const { return rope_scale_; }

  // Everything that may change bits, one "name=value" after another: the system fingerprint of a
  // reply and part of every cache key.
  std::string precision_tuple() const;

 private:
  Model() = default;

  std::unique_ptr<Checkpoint> checkpoint_;  // owns the mapped bytes that weights_ points into
  ModelOptions options_;
  ModelWeights weights_;
  StateShape state_shape_;
  StateShape draft_state_shape_;
  std::vector<float> rope_frequencies_;
  float rope_scale_ = 1.0f;
};

}  // namespace lockstep
