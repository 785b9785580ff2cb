// Runs prompts through a model in every schedule and keeps what came out.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/forward_pass.h"
#include "model/model.h"

namespace lockstep::testing {

// Tests that take the name of an embedded model run on both, named Dense and Moe.
inline const auto kEmbeddedModels = ::testing::Values("tiny-dense-mlx-4bit", "tiny-moe-mlx-4bit");
inline std::string embedded_test_name(const ::testing::TestParamInfo<const char*>& info) {
  return std::string_view(info.param).find("moe") == std::string_view::npos ? "Dense" : "Moe";
}

std::filesystem::path embedded_folder(const std::string& name);
// models/NAME, its draft head included.
Model load_embedded(const std::string& name, Precision precision);

// A model with a thread pool and a pass: rows up to 300, logits for every row.
class Runner {
 public:
  Runner(const Model& model, int threads = 2, Isa isa = best_isa());

  const Model& model() const { return pass_.model(); }
  ForwardPass& pass() { return pass_; }
  SequenceState new_sequence() const { return SequenceState(model().state_shape()); }

  // Reads `ids` in chunks of `chunk` rows (the last may be shorter) and commits each. Returns the
  // logits of every row, [ids, V].
  std::vector<float> read(SequenceState& sequence, std::span<const int32_t> ids, int64_t chunk);

  struct Stages {
    std::map<int64_t, std::vector<float>>
        rows;                       // by stage number: 0 embedding, 1..L, L + 1 final norm
    std::vector<float> logits;      // [ids, V]
    std::vector<float> hidden;      // [ids, H] after the final norm
    std::vector<float> hidden_pre;  // [ids, H]
  };
  // One pass over all of `ids`, on a new sequence.
  Stages read_stages(std::span<const int32_t> ids);

  // The first `count` greedy tokens after `ids`.
  std::vector<int32_t> greedy(std::span<const int32_t> ids, int count);

 private:
  ThreadPool pool_;
  ForwardPass pass_;
};

// Position of the largest value; the lowest of equals.
int32_t argmax(std::span<const float> logits);

// Committed recurrent state and the keys and values of all committed positions, as bytes.
std::vector<std::byte> fingerprint(const SequenceState& sequence);

}  // namespace lockstep::testing
