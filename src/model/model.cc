#include "model/model.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "model/rope_setup.h"

namespace lockstep {
namespace {

void collect_ffn(const DenseFfnWeights& w, std::set<std::string>& names) {
  for (const MatrixView* m : {&w.gate, &w.up, &w.down}) names.insert(encoding_name(*m));
}

void collect_ffn(const MoeWeights& w, std::set<std::string>& names) {
  for (const MatrixStack* s : {&w.gate, &w.up, &w.down}) names.insert(encoding_name(s->first));
  for (const MatrixView* m : {&w.router, &w.shared_gate}) names.insert(encoding_name(*m));
  collect_ffn(w.shared, names);
}

void collect_mixer(const AttentionWeights& w, std::set<std::string>& names) {
  for (const MatrixView* m : {&w.q, &w.k, &w.v, &w.o}) names.insert(encoding_name(*m));
}

void collect_mixer(const DeltaWeights& w, std::set<std::string>& names) {
  for (const MatrixView* m : {&w.qkv, &w.z, &w.a, &w.b, &w.out}) names.insert(encoding_name(*m));
}

// Distinct encodings of the trunk, ascending, joined by "+".
std::string trunk_encodings(const ModelWeights& weights) {
  std::set<std::string> names = {encoding_name(weights.embedding), encoding_name(weights.head)};
  for (const LayerWeights& layer : weights.layers) {
    std::visit([&](const auto& w) { collect_mixer(w, names); }, layer.mixer);
    std::visit([&](const auto& w) { collect_ffn(w, names); }, layer.ffn);
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

const char* origin_name(MtpOrigin origin) {
  switch (origin) {
    case MtpOrigin::kNone:
      return "none";
    case MtpOrigin::kIncluded:
      return "included";
    case MtpOrigin::kSidecar:
      return "sidecar";
  }
  return "?";
}

// Kernel geometry that the ops are written for. The family never leaves it; a checkpoint that does
// is refused by name, not run wrongly.
Status check_geometry(const ModelConfig& config) {
  const auto refuse = [](const char* field, int64_t found, const char* supported) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} is {}; the kernels take {}", field, found, supported)};
  };
  const int64_t head_dim = config.attention.head_dim;
  if (head_dim % 16 != 0 || head_dim > 256) {
    return refuse("head_dim", head_dim, "multiples of 16 up to 256");
  }
  if (config.delta.conv_kernel != 4) {
    return refuse("linear_conv_kernel_dim", config.delta.conv_kernel, "4 taps");
  }
  if (config.delta.value_dim % 16 != 0) {
    return refuse("linear_value_head_dim", config.delta.value_dim, "multiples of 16");
  }
  return {};
}

}  // namespace

Result<Model> Model::make(Checkpoint checkpoint, const ModelOptions& options) {
  LOCKSTEP_RETURN_IF_ERROR(check_geometry(checkpoint.config));
  Model model;
  model.options_ = options;
  model.checkpoint_ = std::make_unique<Checkpoint>(std::move(checkpoint));
  LOCKSTEP_ASSIGN_OR_RETURN(model.weights_, bind_weights(*model.checkpoint_));
  if (!options.allow_unused) {
    LOCKSTEP_RETURN_IF_ERROR(check_no_unknown_tensors(*model.checkpoint_));
  }
  const ModelConfig& config = model.config();
  if (model.options_.token_limit == 0) model.options_.token_limit = config.vocab_size;
  if (options.token_limit < 0 || options.token_limit > config.vocab_size) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the tokenizer knows {} ids, the embedding has only {} rows: they "
                             "belong to different models",
                             options.token_limit, config.vocab_size)};
  }
  model.state_shape_ = lockstep::state_shape(config, kv_type(options.precision));
  model.draft_state_shape_ = lockstep::draft_state_shape(config, kv_type(options.precision));
  RopeSetup rope = rope_setup(config.rope, config.attention.rotary_dim);
  model.rope_frequencies_ = std::move(rope.frequencies);
  model.rope_scale_ = rope.scale;
  return model;
}

std::string Model::precision_tuple() const {
  const RopeConfig& rope = config().rope;
  return fmt::format(
      "backend=cpu numerics={} precision={} kv={} rope={} norms={} weights={}{} mtp={} ranks=1",
      kCpuNumericsVersion, to_string(precision()),
      state_shape_.kv.type == KvType::kBf16 ? "bf16" : "f32",
      rope.yarn ? fmt::format("yarn{}", rope.yarn->factor) : "default",
      checkpoint().norms.add_one ? "w" : "1+w", trunk_encodings(weights_),
      config().delta.order == ValueHeads::kTiled ? " heads=tiled" : "",
      origin_name(checkpoint().mtp.origin));
}

}  // namespace lockstep
