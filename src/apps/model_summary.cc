#include "apps/model_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <variant>

namespace lockstep {
namespace {

std::string format_of(const MatrixView& matrix) {
  if (matrix.encoding != Encoding::kAffine) return encoding_name(matrix);
  return fmt::format("{}-bit affine, groups of {}", matrix.bits, matrix.group);
}

// Gathers one part.
class PartSum {
 public:
  explicit PartSum(std::string name) { part_.name = std::move(name); }

  void add(const MatrixView& matrix, int64_t count = 1) {
    if (matrix.rows == 0) return;
    formats_.insert(format_of(matrix));
    part_.parameters += count * matrix.rows * matrix.cols;
    part_.bytes += static_cast<uint64_t>(count) * matrix.total_bytes();
  }
  void add(const MatrixStack& stack) { add(stack.first, stack.count); }
  // Small vectors are held widened.
  void add(const std::vector<float>& values) {
    part_.parameters += static_cast<int64_t>(values.size());
    part_.bytes += values.size() * sizeof(float);
    if (!values.empty()) widened_ = true;
  }

  void take(std::vector<ModelPart>& parts) {
    if (part_.parameters == 0) return;
    if (formats_.empty() && widened_) formats_.insert("F32 in memory");
    part_.formats = fmt::format("{}", fmt::join(formats_, " + "));
    parts.push_back(std::move(part_));
  }

 private:
  ModelPart part_;
  std::set<std::string> formats_;
  bool widened_ = false;
};

struct LayerSums {
  PartSum attention{"full attention"};
  PartSum delta{"gated delta"};
  PartSum ffn{"feed-forward"};
  PartSum experts{"routed experts"};
  PartSum shared{"shared expert"};
  PartSum router{"router and gate"};
  PartSum vectors{"norms and vectors"};

  void add(const AttentionWeights& w) {
    for (const MatrixView* m : {&w.q, &w.k, &w.v, &w.o}) attention.add(*m);
    for (const auto* v : {&w.q_norm, &w.k_norm}) vectors.add(*v);
  }
  void add(const DeltaWeights& w) {
    for (const MatrixView* m : {&w.qkv, &w.z, &w.a, &w.b, &w.out}) delta.add(*m);
    for (const auto* v : {&w.conv, &w.negative_a, &w.dt_bias, &w.norm}) vectors.add(*v);
  }
  void add(const DenseFfnWeights& w) {
    for (const MatrixView* m : {&w.gate, &w.up, &w.down}) ffn.add(*m);
  }
  void add(const MoeWeights& w) {
    for (const MatrixStack* s : {&w.gate, &w.up, &w.down}) experts.add(*s);
    for (const MatrixView* m : {&w.shared.gate, &w.shared.up, &w.shared.down}) shared.add(*m);
    for (const MatrixView* m : {&w.router, &w.shared_gate}) router.add(*m);
  }
  void add(const LayerWeights& layer) {
    std::visit([&](const auto& w) { add(w); }, layer.mixer);
    std::visit([&](const auto& w) { add(w); }, layer.ffn);
    for (const auto* v : {&layer.input_norm, &layer.post_attention_norm}) vectors.add(*v);
  }
  std::vector<ModelPart> take() {
    std::vector<ModelPart> parts;
    for (PartSum* sum : {&attention, &delta, &ffn, &experts, &shared, &router, &vectors}) {
      sum->take(parts);
    }
    return parts;
  }
};

ModelPart sum_of(const std::vector<ModelPart>& parts, std::string name) {
  ModelPart total;
  total.name = std::move(name);
  std::set<std::string> formats;
  for (const ModelPart& part : parts) {
    total.parameters += part.parameters;
    total.bytes += part.bytes;
    if (part.name != "norms and vectors") formats.insert(part.formats);
  }
  total.formats = fmt::format("{}", fmt::join(formats, " + "));
  return total;
}

}  // namespace

std::vector<ModelPart> model_parts(const Model& model) {
  const ModelWeights& weights = model.weights();
  std::vector<ModelPart> parts;
  PartSum embedding("embedding");
  embedding.add(weights.embedding);
  embedding.take(parts);
  LayerSums layers;
  for (const LayerWeights& layer : weights.layers) layers.add(layer);
  layers.vectors.add(weights.final_norm);
  for (ModelPart& part : layers.take()) parts.push_back(std::move(part));
  if (weights.head.data != weights.embedding.data) {
    PartSum head("output head");
    head.add(weights.head);
    head.take(parts);
  }
  if (weights.mtp) {
    LayerSums draft;
    draft.add(weights.mtp->layer);
    draft.attention.add(weights.mtp->fc);
    for (const auto* v :
         {&weights.mtp->embedding_norm, &weights.mtp->hidden_norm, &weights.mtp->norm}) {
      draft.vectors.add(*v);
    }
    parts.push_back(sum_of(draft.take(), kDraftHeadPart));
  }
  return parts;
}

ModelPart trunk_total(const std::vector<ModelPart>& parts) {
  std::vector<ModelPart> trunk;
  for (const ModelPart& part : parts) {
    if (part.name != kDraftHeadPart) trunk.push_back(part);
  }
  return sum_of(trunk, "all");
}

std::string format_count(int64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 1000) return fmt::format("{}", count);
  if (count < 1000000) return fmt::format("{:.1f} k", value / 1e3);
  if (count < 1000000000) return fmt::format("{:.1f} M", value / 1e6);
  return fmt::format("{:.2f} B", value / 1e9);
}

std::string describe_layers(const ModelConfig& config) {
  const auto attention =
      std::count(config.layers.begin(), config.layers.end(), Mixer::kFullAttention);
  return fmt::format("{} gated delta, {} full attention",
                     static_cast<int64_t>(config.layers.size()) - attention, attention);
}

}  // namespace lockstep
