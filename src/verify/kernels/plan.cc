#include "verify/kernels/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "kernels/add/add.h"
#include "kernels/attention/attention.h"
#include "kernels/contract/op_contract.h"
#include "kernels/conv1d_causal/conv1d_causal.h"
#include "kernels/delta_gates/delta_gates.h"
#include "kernels/embed/embed.h"
#include "kernels/gated_delta/gated_delta.h"
#include "kernels/kv_store/kv_store.h"
#include "kernels/l2_norm/l2_norm.h"
#include "kernels/linear/linear.h"
#include "kernels/moe_combine/moe_combine.h"
#include "kernels/moe_route/moe_route.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/sigmoid_mul/sigmoid_mul.h"
#include "kernels/silu_mul/silu_mul.h"
#include "runtime/draft/head_drafter.h"

namespace lockstep::verify {
namespace {

class Planner {
 public:
  Planner(const ModelConfig& config, Precision precision)
      : config_(config), precision_(precision) {}

  void add_trunk(const ModelWeights& weights) {
    add(EmbedArgs{.table = weights.embedding});
    for (const LayerWeights& layer : weights.layers) add_layer(layer);
    norm(config_.hidden_size, config_.hidden_size);
    project(weights.head);
  }

  void add_mtp(const ModelWeights& weights) {
    norm(config_.hidden_size, config_.hidden_size);
    project(weights.mtp->fc);
    add_layer(weights.mtp->layer);
    project(weights.head.row_slice(0, std::min(weights.head.rows, HeadDrafter::kScoredIds)));
  }

  std::vector<ShapeClass> take() { return std::move(classes_); }

 private:
  template <typename Args>
  void add(const Args& args) {
    ShapeClass shape = shape_class(args);
    if (seen_.insert(shape.key()).second) classes_.push_back(std::move(shape));
  }

  // Rows go through quantize_rows where the weight and the precision take them.
  const ActivationBlock* quantized(const MatrixView& weight) {
    if (precision_ == Precision::kFull || !takes_int8(weight)) return nullptr;
    add(QuantizeRowsArgs{.k = weight.cols});
    return &rows_;
  }
  void project(const MatrixView& weight) {
    add(LinearArgs{.weight = weight, .x_quantized = quantized(weight)});
  }
  void project_full(const MatrixView& weight) { add(LinearArgs{.weight = weight}); }
  void experts(const MatrixStack& stack) {
    add(LinearGroupedArgs{.weight = stack, .x_quantized = quantized(stack.first)});
  }
  void norm(int64_t n, int64_t stride) { add(RmsNormArgs{.x_stride = stride, .n = n}); }

  void add_layer(const LayerWeights& layer) {
    const int64_t hidden = config_.hidden_size;
    norm(hidden, hidden);
    if (const auto* attention = std::get_if<AttentionWeights>(&layer.mixer)) {
      add_attention(*attention);
    } else {
      add_delta(std::get<DeltaWeights>(layer.mixer));
    }
    if (const auto* dense = std::get_if<DenseFfnWeights>(&layer.ffn)) {
      add_dense(*dense);
    } else {
      add_moe(std::get<MoeWeights>(layer.ffn));
    }
    add(AddArgs{.n = hidden});
  }

  void add_attention(const AttentionWeights& weights) {
    const AttentionConfig& shape = config_.attention;
    const KvShape kv{kv_type(precision_), shape.kv_heads, shape.head_dim};
    for (const MatrixView* weight : {&weights.q, &weights.k, &weights.v}) project(*weight);
    norm(shape.head_dim, 2 * shape.head_dim);
    norm(shape.head_dim, shape.head_dim);
    for (const int64_t heads : {shape.heads, shape.kv_heads}) {
      add(RopeArgs{.heads = heads, .head_dim = shape.head_dim, .rotary_dim = shape.rotary_dim});
    }
    add(KvStoreArgs{.shape = kv});
    add(AttentionArgs{.shape = kv, .heads = shape.heads});
    add(SigmoidMulArgs{.gate_stride = 2 * shape.head_dim, .n = shape.head_dim});
    project(weights.o);
  }

  void add_delta(const DeltaWeights& weights) {
    const GatedDeltaConfig& shape = config_.delta;
    project(weights.qkv);
    project(weights.z);
    project_full(weights.a);
    project_full(weights.b);
    add(DeltaGatesArgs{.heads = shape.value_heads});
    add(Conv1dCausalArgs{.channels = shape.conv_channels()});
    add(L2NormArgs{.stride = shape.conv_channels(), .heads = shape.key_heads, .n = shape.key_dim});
    add(GatedDeltaArgs{.key_heads = shape.key_heads,
                       .value_heads = shape.value_heads,
                       .key_dim = shape.key_dim,
                       .value_dim = shape.value_dim});
    add(RmsNormGatedArgs{.function = shape.gate == GateActivation::kSigmoid ? GateFunction::kSigmoid
                                                                            : GateFunction::kSilu,
                         .n = shape.value_dim});
    project(weights.out);
  }

  void add_dense(const DenseFfnWeights& weights) {
    project(weights.gate);
    project(weights.up);
    add(SiluMulArgs{.n = weights.gate.rows});
    project(weights.down);
  }

  void add_moe(const MoeWeights& weights) {
    const MoeConfig& moe = config_.moe;
    project_full(weights.router);
    project_full(weights.shared_gate);
    add(MoeRouteArgs{.experts = moe.experts, .chosen = moe.experts_per_token});
    experts(weights.gate);
    experts(weights.up);
    add(SiluMulArgs{.n = moe.intermediate});
    experts(weights.down);
    add_dense(weights.shared);
    add(MoeCombineArgs{.chosen = moe.experts_per_token, .n = config_.hidden_size});
  }

  const ModelConfig& config_;
  Precision precision_;
  ActivationBlock rows_ = {};
  std::set<std::string> seen_;
  std::vector<ShapeClass> classes_;
};

void sort_by_op(std::vector<ShapeClass>& classes) {
  std::stable_sort(classes.begin(), classes.end(),
                   [](const ShapeClass& a, const ShapeClass& b) { return a.op < b.op; });
}

std::set<std::string> registered_kernels() {
  std::set<std::string> names;
  for (const contract::OpContract& op : contract::op_contracts()) {
    for (const KernelInfo& kernel : op.kernels()) names.insert(kernel.name);
  }
  return names;
}

}  // namespace

std::vector<ShapeClass> plan_launches(const ModelConfig& config, const ModelWeights& weights,
                                      Precision precision) {
  Planner planner(config, precision);
  planner.add_trunk(weights);
  if (weights.mtp) planner.add_mtp(weights);
  std::vector<ShapeClass> classes = planner.take();
  sort_by_op(classes);
  return classes;
}

std::vector<ShapeClass> plan_launches(const ModelConfig& config, const ModelWeights& weights) {
  std::vector<ShapeClass> classes;
  std::set<std::string> seen;
  for (const Precision precision : {Precision::kInt8, Precision::kFull}) {
    for (ShapeClass& shape : plan_launches(config, weights, precision)) {
      if (seen.insert(shape.key()).second) classes.push_back(std::move(shape));
    }
  }
  sort_by_op(classes);
  return classes;
}

std::vector<std::string> uncovered(const LaunchLog& log, const std::vector<ShapeClass>& planned) {
  std::set<std::string> open;
  for (const ShapeClass& shape : planned) open.insert(shape.key());
  const std::set<std::string> expected = open, kernels = registered_kernels();
  std::vector<std::string> faults;
  for (const LaunchLog::Launch& launch : log.launches()) {
    if (!kernels.contains(launch.kernel)) {
      faults.push_back(fmt::format("{} was launched and no op registered it", launch.kernel));
    }
    if (contract::find_contract(launch.shape.op) == nullptr) {
      faults.push_back(fmt::format("{} has no contract", launch.shape.op));
    }
    if (!expected.contains(launch.shape.key())) {
      faults.push_back(fmt::format("{} was launched at {}, which the plan lacks", launch.kernel,
                                   launch.shape.to_string()));
    }
    open.erase(launch.shape.key());
  }
  for (const std::string& key : open) faults.push_back(key + " is planned and was not launched");
  return faults;
}

}  // namespace lockstep::verify
