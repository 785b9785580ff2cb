#include "checkpoint/convert/gguf_plan.h"

#include <utility>

#include "checkpoint/gguf/names.h"
#include "checkpoint/head_source.h"

namespace lockstep {
namespace {

constexpr GgufTensorType kF32 = {DType::kF32, {}};
constexpr GgufTensorType kF16 = {DType::kF16, {}};
constexpr GgufTensorType kQ8_0 = {DType::kU8, BlockType::kQ8_0};

GgufTensorType type_of(const ModelTensor& tensor, const GgufTensorType& wanted) {
  const std::string module = tensor.module();
  if (!tensor.matrix() || module.ends_with("mlp.gate") ||
      module.ends_with("mlp.shared_expert_gate")) {
    return kF32;
  }
  const bool narrow = module.ends_with("in_proj_a") || module.ends_with("in_proj_b");
  const GgufTensorType type = narrow && wanted.blocks ? kQ8_0 : wanted;
  if (tensor.cols % type.elements() == 0) return type;
  return tensor.cols % kQ8_0.elements() == 0 ? kQ8_0 : kF16;
}

MatrixView format_of(const GgufTensorType& type, int64_t cols) {
  if (type.blocks) return {.encoding = Encoding::kBlocks, .block = *type.blocks, .cols = cols};
  return {.encoding = Encoding::kDense, .dtype = type.dtype, .cols = cols};
}

std::vector<int64_t> shape_of(const ModelTensor& tensor) {
  if (tensor.kind == TensorKind::kExperts) return {tensor.count, tensor.rows, tensor.cols};
  const bool matrix = tensor.matrix() || tensor.kind == TensorKind::kConvolution;
  if (!matrix || tensor.module().ends_with("mlp.shared_expert_gate")) return {tensor.cols};
  return {tensor.rows, tensor.cols};
}

}  // namespace

Result<Conversion> plan_gguf(Checkpoint& source, const GgufTensorType& type) {
  Conversion plan;
  plan.conventions = {.norms_with_one = true, .negative_decay = true, .order = ValueHeads::kTiled};
  const auto layers = static_cast<int64_t>(source.config.layers.size());
  for (ModelTensor& tensor : model_tensors(source.config, source.head_module == kHeadModule)) {
    LOCKSTEP_ASSIGN_OR_RETURN(SourceTensor rows,
                              SourceTensor::read(source, tensor, plan.conventions));
    PlannedTensor planned;
    planned.name = stored_gguf_name(tensor.name, layers);
    planned.shape = shape_of(tensor);
    planned.format = format_of(type_of(tensor, type), tensor.cols);
    planned.part_rows = rows.rows();
    planned.parts.push_back({std::move(tensor), std::move(rows)});
    plan.tensors.push_back(std::move(planned));
  }
  return plan;
}

GgufTensorType gguf_type_of(const PlannedTensor& tensor) {
  if (tensor.format.encoding == Encoding::kBlocks) return {DType::kU8, tensor.format.block};
  return {tensor.format.dtype, {}};
}

}  // namespace lockstep
