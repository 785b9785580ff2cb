#include "verify/float64/float64_model.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "kernels/embed/reference.h"
#include "kernels/linear/reference.h"
#include "kernels/rms_norm/reference.h"
#include "verify/float64/float64_layer.h"

namespace lockstep::verify {
namespace {

void join(Rows& residual, const Rows& branch) {
  for (size_t i = 0; i < residual.size(); ++i) residual[i] += branch[i];
}

Rows head_rows(const Model& model, std::span<const double> x) {
  Rows y = product(model.weights().head, x);
  const int64_t vocab = model.config().vocab_size;
  for (size_t end = static_cast<size_t>(vocab); end <= y.size();
       end += static_cast<size_t>(vocab)) {
    std::fill(y.begin() + static_cast<std::ptrdiff_t>(end) - (vocab - model.token_limit()),
              y.begin() + static_cast<std::ptrdiff_t>(end),
              -std::numeric_limits<double>::infinity());
  }
  return y;
}

}  // namespace

Rows product(const MatrixView& weight, std::span<const double> x) {
  const int64_t rows = static_cast<int64_t>(x.size()) / weight.cols;
  Rows y(static_cast<size_t>(rows * weight.rows));
  reference_linear({.weight = weight, .rows = rows}, x.data(), y.data());
  return y;
}

Rows normed(const Float64Run& run, const double* x, int64_t stride,
            const std::vector<float>& weight, int64_t rows) {
  const auto n = static_cast<int64_t>(weight.size());
  Rows y(static_cast<size_t>(rows * n));
  reference_rms_norm({.x_stride = stride,
                      .weight = weight.data(),
                      .eps = static_cast<float>(run.model.config().rms_norm_eps),
                      .rows = rows,
                      .n = n},
                     x, y.data());
  return y;
}

Rows Float64Model::embed(std::span<const int32_t> ids) const {
  const int64_t hidden = model_.config().hidden_size;
  Rows out(ids.size() * static_cast<size_t>(hidden));
  reference_embed({.table = model_.weights().embedding,
                   .ids = ids.data(),
                   .rows = static_cast<int64_t>(ids.size())},
                  out.data());
  show(stages::kEmbed, -1, out, hidden);
  return out;
}

Rows Float64Model::run_layer(int64_t index, Rows residual) const {
  return layer(model_.weights().layers[static_cast<size_t>(index)], index, std::move(residual));
}

Rows Float64Model::layer(const LayerWeights& weights, int64_t number, Rows residual) const {
  const int64_t hidden = model_.config().hidden_size;
  const auto shown = [&](std::string_view stage, std::span<const double> data, int64_t width) {
    show(stage, number, data, width);
  };
  const int64_t rows = static_cast<int64_t>(residual.size()) / hidden;
  const Float64Run run = {.model = model_, .rows = rows, .show = shown};
  const auto norm = [&](const std::vector<float>& weight, std::string_view stage) {
    Rows x = normed(run, residual.data(), hidden, weight, rows);
    shown(stage, x, hidden);
    return x;
  };
  const Rows mixer_input = norm(weights.input_norm, stages::kMixerNorm);
  const auto* attention = std::get_if<AttentionWeights>(&weights.mixer);
  Rows branch = attention != nullptr
                    ? attention_branch(run, *attention, mixer_input)
                    : delta_branch(run, std::get<DeltaWeights>(weights.mixer), mixer_input);
  shown(stages::kMixerBranch, branch, hidden);
  join(residual, branch);
  shown(stages::kMixerResidual, residual, hidden);
  const Rows ffn_input = norm(weights.post_attention_norm, stages::kFfnNorm);
  branch =
      std::visit([&](const auto& ffn) { return ffn_branch(run, ffn, ffn_input); }, weights.ffn);
  shown(stages::kFfnBranch, branch, hidden);
  join(residual, branch);
  shown(stages::kLayer, residual, hidden);
  return residual;
}

Rows Float64Model::final_norm(std::span<const double> residual) const {
  const int64_t hidden = model_.config().hidden_size;
  const int64_t rows = static_cast<int64_t>(residual.size()) / hidden;
  Rows y = normed({.model = model_, .rows = rows, .show = {}}, residual.data(), hidden,
                  model_.weights().final_norm, rows);
  show(stages::kFinalNorm, static_cast<int64_t>(model_.config().layers.size()), y, hidden);
  return y;
}

Rows Float64Model::logits(std::span<const double> normed_rows) const {
  Rows y = head_rows(model_, normed_rows);
  show(stages::kLogits, static_cast<int64_t>(model_.config().layers.size()), y,
       model_.config().vocab_size);
  return y;
}

Rows Float64Model::draft(std::span<const double> hidden, std::span<const int32_t> ids) const {
  LOCKSTEP_CHECK(model_.weights().mtp.has_value(), "this model has no draft head");
  const MtpWeights& weights = *model_.weights().mtp;
  const ModelConfig& config = model_.config();
  const int64_t width = config.hidden_size;
  const int64_t rows = static_cast<int64_t>(ids.size());
  const int64_t number = static_cast<int64_t>(config.layers.size()) + 1;
  const Float64Run run = {.model = model_, .rows = rows, .show = {}};
  Rows embedded(static_cast<size_t>(rows * width));
  reference_embed({.table = model_.weights().embedding, .ids = ids.data(), .rows = rows},
                  embedded.data());
  const Rows left = normed(run, embedded.data(), width, weights.embedding_norm, rows);
  const Rows right = normed(run, hidden.data(), width, weights.hidden_norm, rows);
  show(stages::kDraftEmbeddingNorm, number, left, width);
  show(stages::kDraftHiddenNorm, number, right, width);
  Rows joined;
  for (int64_t row = 0; row < rows; ++row) {
    for (const Rows* half : {&left, &right}) {
      const auto begin = half->begin() + row * width;
      joined.insert(joined.end(), begin, begin + width);
    }
  }
  Rows residual = product(weights.fc, joined);
  show(stages::kDraftInput, number, residual, width);
  residual = layer(weights.layer, number, std::move(residual));
  const Rows last = normed(run, residual.data(), width, weights.norm, rows);
  show(stages::kDraftNorm, number, last, width);
  Rows logits = head_rows(model_, last);
  show(stages::kDraftLogits, number, logits, config.vocab_size);
  return logits;
}

}  // namespace lockstep::verify
