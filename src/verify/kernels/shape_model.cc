#include "verify/kernels/shape_model.h"

#include <map>
#include <string>

#include "checkpoint/config_reader.h"
#include "checkpoint/synth/config_files.h"
#include "checkpoint/synth/plan.h"

namespace lockstep::verify {
namespace {

// Matrices of a planned checkpoint by their path without the layout's prefix.
class Shapes {
 public:
  explicit Shapes(const SynthPlan& plan) {
    for (const StoredModule& module : plan.modules) {
      MatrixView matrix{.dtype = module.dtype, .rows = module.rows, .cols = module.cols};
      if (module.affine) {
        matrix.encoding = Encoding::kAffine;
        matrix.dtype = module.affine->scales;
        matrix.bits = module.affine->bits;
        matrix.group = module.affine->group;
      }
      const size_t prefix = module.path.starts_with("language_model.") ? 15 : 0;
      matrices_[module.path.substr(prefix)] = matrix;
    }
  }

  const MatrixView& at(const std::string& path) const {
    const auto found = matrices_.find(path);
    LOCKSTEP_CHECK(found != matrices_.end(), "no matrix " + path);
    return found->second;
  }
  // All experts of a layer are one module.
  MatrixStack stack(const std::string& path, int64_t experts) const {
    MatrixView first = at(path);
    first.rows /= experts;
    return {.first = first, .count = experts, .stride_rows = first.rows};
  }

 private:
  std::map<std::string, MatrixView> matrices_;
};

DenseFfnWeights dense(const Shapes& shapes, const std::string& prefix) {
  return {.gate = shapes.at(prefix + "gate_proj"),
          .up = shapes.at(prefix + "up_proj"),
          .down = shapes.at(prefix + "down_proj")};
}

MoeWeights moe(const Shapes& shapes, const std::string& prefix, int64_t experts) {
  return {.router = shapes.at(prefix + "gate"),
          .gate = shapes.stack(prefix + "switch_mlp.gate_proj", experts),
          .up = shapes.stack(prefix + "switch_mlp.up_proj", experts),
          .down = shapes.stack(prefix + "switch_mlp.down_proj", experts),
          .shared = dense(shapes, prefix + "shared_expert."),
          .shared_gate = shapes.at(prefix + "shared_expert_gate")};
}

LayerWeights layer(const Shapes& shapes, const std::string& prefix, bool full_attention,
                   int64_t experts) {
  LayerWeights weights;
  const std::string mixer = prefix + (full_attention ? "self_attn." : "linear_attn.");
  if (full_attention) {
    AttentionWeights attention;
    attention.q = shapes.at(mixer + "q_proj");
    attention.k = shapes.at(mixer + "k_proj");
    attention.v = shapes.at(mixer + "v_proj");
    attention.o = shapes.at(mixer + "o_proj");
    weights.mixer = std::move(attention);
  } else {
    DeltaWeights delta;
    delta.qkv = shapes.at(mixer + "in_proj_qkv");
    delta.z = shapes.at(mixer + "in_proj_z");
    delta.a = shapes.at(mixer + "in_proj_a");
    delta.b = shapes.at(mixer + "in_proj_b");
    delta.out = shapes.at(mixer + "out_proj");
    weights.mixer = std::move(delta);
  }
  if (experts > 0) {
    weights.ffn = moe(shapes, prefix + "mlp.", experts);
  } else {
    weights.ffn = dense(shapes, prefix + "mlp.");
  }
  return weights;
}

}  // namespace

Result<ShapeModel> shape_model(std::string_view name) {
  LOCKSTEP_ASSIGN_OR_RETURN(const SynthShape shape, find_synth_shape(name));
  const SynthOptions options;
  const SynthPlan plan = plan_checkpoint(shape, options);
  const std::string text = config_text(shape, options, plan, {});
  LOCKSTEP_ASSIGN_OR_RETURN(const json::value root, parse_json(text, "config.json"));
  ShapeModel model;
  LOCKSTEP_ASSIGN_OR_RETURN(model.config, read_model_config(root, "config.json"));
  const Shapes shapes(plan);
  model.weights.embedding = shapes.at("model.embed_tokens");
  model.weights.head = shape.tied ? model.weights.embedding : shapes.at("lm_head");
  for (int64_t i = 0; i < shape.layers; ++i) {
    model.weights.layers.push_back(layer(shapes, "model.layers." + std::to_string(i) + ".",
                                         shape.full_attention(i), shape.experts));
  }
  model.weights.mtp.emplace();
  model.weights.mtp->fc = shapes.at("mtp.fc");
  model.weights.mtp->layer = layer(shapes, "mtp.layers.0.", true, shape.experts);
  return model;
}

}  // namespace lockstep::verify
