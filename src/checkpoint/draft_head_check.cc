#include "checkpoint/draft_head_check.h"

#include <fmt/format.h>

#include <string>

#include "checkpoint/model_tensors.h"
#include "checkpoint/source_tensor.h"
#include "checkpoint/tensor_names.h"

namespace lockstep {
namespace {

Status check_tensors(Checkpoint& checkpoint) {
  for (const ModelTensor& tensor : model_tensors(checkpoint.config, /*own_head=*/false)) {
    if (!tensor.draft()) continue;
    LOCKSTEP_RETURN_IF_ERROR(SourceTensor::read(checkpoint, tensor, {}));
  }
  return {};
}

Status check_nothing_left(const Checkpoint& checkpoint) {
  const auto& tensors = checkpoint.tensors.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (role_of(tensors[i].name) != TensorRole::kDraft || checkpoint.used[i]) continue;
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("{}: tensor {} {} is no part of this model's draft head", tensors[i].file,
                    tensors[i].source_name, format_shape(tensors[i].shape))};
  }
  return {};
}

}  // namespace

Status check_draft_head(Checkpoint& checkpoint) {
  const std::vector<bool> used = checkpoint.used;
  const std::vector<std::string> warnings = checkpoint.warnings;
  LOCKSTEP_RETURN_IF_ERROR(check_tensors(checkpoint));
  LOCKSTEP_RETURN_IF_ERROR(check_nothing_left(checkpoint));
  checkpoint.used = used;
  checkpoint.warnings = warnings;
  return {};
}

}  // namespace lockstep
