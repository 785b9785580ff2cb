// Small models, ready to run, for the tests of this module.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/isa.h"
#include "base/thread_pool.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/testing/synthetic.h"
#include "kernels/cpu_context.h"
#include "model/forward_pass.h"
#include "model/model.h"

namespace lockstep {

inline std::filesystem::path tiny_model_folder() {
  return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models" / "tiny-dense-mlx-4bit";
}

inline Model open_model(const std::filesystem::path& folder) {
  Checkpoint checkpoint = open_checkpoint(folder, {}).value();
  return Model::make(std::move(checkpoint), {.token_limit = 12288}).value();
}

// A random model that is a hundred times smaller still, for tests of schedules.
inline Model open_micro_model(int64_t vocab) {
  return Model::make(make_synthetic(micro_shape("micro-r3", vocab)).value(), {}).value();
}

// A pass of its own over a model; the model must outlive it.
class TestPass {
 public:
  explicit TestPass(const Model& model, int64_t rows = 16, int threads = 1)
      : pool_(threads),
        pass_(model, {.pool = pool_, .isa = best_isa()}, {.rows = rows, .logit_rows = 1}) {}

  ForwardPass& get() { return pass_; }

 private:
  ThreadPool pool_;
  ForwardPass pass_;
};

}  // namespace lockstep
