#include "checkpoint/convert/folder_plan.h"

#include <string_view>
#include <utility>

#include "checkpoint/head_source.h"

namespace lockstep {
namespace {

constexpr std::string_view kDraftPrefix = "mtp.";
constexpr std::string_view kTrunkPrefix = "model.";

MatrixView dense(DType dtype, int64_t cols) {
  return {.encoding = Encoding::kDense, .dtype = dtype, .cols = cols};
}

MatrixView mlx_format(const ModelTensor& tensor, const AffineFormat& wanted) {
  if (tensor.kind == TensorKind::kDecay) return dense(DType::kF32, tensor.cols);
  if (!tensor.matrix()) return dense(DType::kBF16, tensor.cols);
  const std::string module = tensor.module();
  const bool routes = module.ends_with("mlp.gate") || module.ends_with("mlp.shared_expert_gate");
  const AffineFormat format = routes ? AffineFormat{.bits = 8, .group = 64} : wanted;
  if (tensor.cols % format.group != 0) return dense(DType::kBF16, tensor.cols);
  return {.encoding = Encoding::kAffine,
          .dtype = format.scales,
          .bits = format.bits,
          .group = format.group,
          .cols = tensor.cols};
}

MatrixView hugging_face_format(const ModelTensor& tensor) {
  const bool wide =
      tensor.kind == TensorKind::kDecay || tensor.name.ends_with("linear_attn.norm.weight");
  return dense(wide ? DType::kF32 : DType::kBF16, tensor.cols);
}

std::string mlx_name(const ModelTensor& tensor) {
  if (tensor.draft()) return tensor.name.substr(kDraftPrefix.size());
  return "language_model." + tensor.name;
}

// A fused stack has the name of its gates' and ups' common tensor, without ".weight".
std::string hugging_face_name(const ModelTensor& tensor) {
  std::string name = tensor.name;
  if (tensor.kind == TensorKind::kExperts) {
    const bool down = name.ends_with("down_proj.weight");
    name.resize(name.find("switch_mlp."));
    name += down ? "experts.down_proj" : "experts.gate_up_proj";
  }
  if (!name.starts_with(kTrunkPrefix)) return name;
  return "model.language_model." + name.substr(kTrunkPrefix.size());
}

std::vector<int64_t> shape_of(const ModelTensor& tensor, Layout layout) {
  switch (tensor.kind) {
    case TensorKind::kExperts:
      return {tensor.count, tensor.rows, tensor.cols};
    case TensorKind::kMatrix:
      return {tensor.rows, tensor.cols};
    case TensorKind::kConvolution:
      if (layout == Layout::kMlx) return {tensor.rows, tensor.cols, 1};
      return {tensor.rows, 1, tensor.cols};
    default:
      return {tensor.cols};
  }
}

Result<PlannedTensor> plan_tensor(Checkpoint& source, const ModelTensor& tensor,
                                  const Conventions& conventions, Layout layout) {
  LOCKSTEP_ASSIGN_OR_RETURN(SourceTensor rows, SourceTensor::read(source, tensor, conventions));
  PlannedTensor planned;
  planned.shape = shape_of(tensor, layout);
  planned.part_rows = rows.rows();
  planned.parts.push_back({tensor, std::move(rows)});
  return planned;
}

// The gates were planned just before.
void fuse(PlannedTensor ups, PlannedTensor& gates) {
  gates.part_rows = gates.shape[1];
  gates.shape[1] *= 2;
  gates.parts.push_back(std::move(ups.parts.front()));
}

}  // namespace

Result<Conversion> plan_mlx(Checkpoint& source, const AffineFormat& format) {
  Conversion plan;
  plan.conventions = {.norms_with_one = true};
  for (const ModelTensor& tensor :
       model_tensors(source.config, source.head_module == kHeadModule)) {
    LOCKSTEP_ASSIGN_OR_RETURN(PlannedTensor planned,
                              plan_tensor(source, tensor, plan.conventions, Layout::kMlx));
    planned.name = mlx_name(tensor);
    planned.format = mlx_format(tensor, format);
    plan.tensors.push_back(std::move(planned));
  }
  return plan;
}

Result<Conversion> plan_hugging_face(Checkpoint& source) {
  Conversion plan;
  for (const ModelTensor& tensor :
       model_tensors(source.config, source.head_module == kHeadModule)) {
    LOCKSTEP_ASSIGN_OR_RETURN(PlannedTensor planned,
                              plan_tensor(source, tensor, plan.conventions, Layout::kHuggingFace));
    if (tensor.name.ends_with("switch_mlp.up_proj.weight")) {
      fuse(std::move(planned), plan.tensors.back());
      continue;
    }
    planned.name = hugging_face_name(tensor);
    planned.format = hugging_face_format(tensor);
    plan.tensors.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace lockstep
