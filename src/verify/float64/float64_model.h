// A forward pass in float64, put together from the references of the op folders: the truth that
// stages are measured against. One thread, no cache, no speed.
//
// Weights are those of the checkpoint, decoded exactly; the vectors that model/weights.h keeps as
// float32 (norm factors, -exp(A_log)) enter as they are there, and rope angles are float32 as the
// family defines them. Rows are one sequence from position 0 on; letters are those of
// checkpoint/model_config.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/stages.h"

namespace lockstep::verify {

// As StageTap, in float64.
using Float64Tap = std::function<void(std::string_view stage, int64_t layer,
                                      std::span<const double> data, int64_t width)>;

class Float64Model {
 public:
  // The model must outlive it.
  explicit Float64Model(const Model& model) : model_(model) {}

  void set_tap(Float64Tap tap) { tap_ = std::move(tap); }

  // [rows, H]
  std::vector<double> embed(std::span<const int32_t> ids) const;
  // The residual stream [rows, H] after layer `index`, from the one before it.
  std::vector<double> run_layer(int64_t index, std::vector<double> residual) const;
  std::vector<double> final_norm(std::span<const double> residual) const;
  // [rows, V] from rows after the final norm; ids the tokenizer does not know are -infinity.
  std::vector<double> logits(std::span<const double> normed) const;
  // Logits [rows, V] of the draft head, which the model must have: row r joins hidden [rows, H]
  // with the embedding of ids[r], the token that follows it.
  std::vector<double> draft(std::span<const double> hidden, std::span<const int32_t> ids) const;

 private:
  void show(std::string_view stage, int64_t layer, std::span<const double> data,
            int64_t width) const {
    if (tap_) tap_(stage, layer, data, width);
  }
  std::vector<double> layer(const LayerWeights& weights, int64_t number,
                            std::vector<double> residual) const;

  const Model& model_;
  Float64Tap tap_;
};

}  // namespace lockstep::verify
