#include "checkpoint/synth/plan.h"

#include <string_view>
#include <utility>

namespace lockstep {
namespace {

constexpr std::string_view kWeight = ".weight";

std::string_view without_weight(std::string_view name) {
  if (name.ends_with(kWeight)) name.remove_suffix(kWeight.size());
  return name;
}

class Planner {
 public:
  Planner(const SynthShape& shape, const SynthOptions& options)
      : shape_(shape), options_(options), mlx_(options.layout == Layout::kMlx) {}

  SynthPlan plan() {
    for (const SynthModule& module : synth_modules(shape_)) {
      if (module.mtp() && options_.mtp == SynthMtp::kAbsent) continue;
      if (!mlx_ && module.name.ends_with("switch_mlp.up_proj.weight")) {
        fuse_with_gate(module);
      } else {
        add(module);
      }
    }
    return std::move(plan_);
  }

 private:
  void add(const SynthModule& module) {
    StoredModule stored;
    stored.parts = {{tensor_key(options_.seed, module.name), module.fill}};
    stored.cols = module.kind == ModuleKind::kMatrix ? module.shape.back() : module.elements();
    stored.rows = module.elements() / stored.cols;
    stored.part_rows = stored.rows;
    if (mlx_ && module.kind == ModuleKind::kZeroCentredNorm) stored.offset = 1.0f;
    stored.dtype = options_.dtype;
    const bool wide_norm = !mlx_ && module.kind == ModuleKind::kPlainNorm;
    if (module.kind == ModuleKind::kALog || wide_norm) stored.dtype = DType::kF32;
    stored.sidecar = module.mtp() && options_.mtp == SynthMtp::kSidecar;
    if (mlx_ && module.kind == ModuleKind::kMatrix) stored.affine = format_of(module);
    const std::string name = stored_name(module);
    stored.path = without_weight(name);
    add_tensors(name, stored_shape(module), stored);
    plan_.modules.push_back(std::move(stored));
  }

  // The gate stack was planned just before.
  void fuse_with_gate(const SynthModule& up) {
    StoredModule& gate = plan_.modules.back();
    gate.parts.push_back({tensor_key(options_.seed, up.name), up.fill});
    gate.part_rows = up.shape[1];
    gate.rows *= 2;
    TensorSpec& spec = plan_.trunk.back();
    spec.shape[1] *= 2;
    plan_.tensor_bytes += static_cast<uint64_t>(up.elements()) * size_of(spec.dtype);
  }

  std::string stored_name(const SynthModule& module) const {
    std::string name = module.name;
    if (mlx_) {
      if (!module.mtp()) return "language_model." + name;
      return options_.mtp == SynthMtp::kSidecar ? name.substr(4) : "language_model." + name;
    }
    if (const size_t experts = name.find("switch_mlp."); experts != std::string::npos) {
      const bool down = name.ends_with("down_proj.weight");
      name = name.substr(0, experts) + (down ? "experts.down_proj" : "experts.gate_up_proj");
    }
    return name.starts_with("model.") ? "model.language_model." + name.substr(6) : name;
  }

  std::vector<int64_t> stored_shape(const SynthModule& module) const {
    std::vector<int64_t> shape = module.shape;
    const bool convolution = module.name.ends_with("conv1d.weight");
    if (mlx_ && convolution) std::swap(shape[1], shape[2]);
    return shape;
  }

  // None: the matrix stays as it is.
  std::optional<AffineFormat> format_of(const SynthModule& module) const {
    const std::string_view path = without_weight(module.name);
    AffineFormat format = {options_.bits, options_.group, options_.dtype};
    if (path.ends_with("mlp.gate") || path.ends_with("mlp.shared_expert_gate")) {
      format = {8, 64, options_.dtype};
    }
    for (const SynthOverride& rule : options_.overrides) {
      if (path.find(rule.part) != path.npos) format = {rule.bits, rule.group, options_.dtype};
    }
    if (format.bits == 0 || module.shape.back() % format.group != 0) return std::nullopt;
    return format;
  }

  void add_tensors(const std::string& name, std::vector<int64_t> shape, StoredModule& stored) {
    std::vector<TensorSpec>& tensors = stored.sidecar ? plan_.sidecar : plan_.trunk;
    stored.tensor = tensors.size();
    const auto elements = static_cast<uint64_t>(stored.rows * stored.cols);
    if (!stored.affine) {
      tensors.push_back({name, stored.dtype, std::move(shape)});
      plan_.tensor_bytes += elements * size_of(stored.dtype);
      return;
    }
    const AffineFormat& format = *stored.affine;
    shape.back() = stored.cols * format.bits / 32;
    tensors.push_back({name, DType::kU32, shape});
    shape.back() = stored.cols / format.group;
    tensors.push_back({stored.path + ".scales", format.scales, shape});
    tensors.push_back({stored.path + ".biases", format.scales, shape});
    plan_.tensor_bytes +=
        elements * static_cast<uint64_t>(format.bits) / 8 +
        2 * elements / static_cast<uint64_t>(format.group) * size_of(format.scales);
  }

  const SynthShape& shape_;
  const SynthOptions& options_;
  bool mlx_;
  SynthPlan plan_;
};

}  // namespace

SynthPlan plan_checkpoint(const SynthShape& shape, const SynthOptions& options) {
  return Planner(shape, options).plan();
}

}  // namespace lockstep
