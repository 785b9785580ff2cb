#include "checkpoint/source_tensor.h"

#include <fmt/format.h>

#include <string>

#include "base/real_math.h"
#include "checkpoint/matrix_reader.h"

namespace lockstep {
namespace {

// The head in the order `from` that stands at place `head` of the order `to`. Grouped: those of a
// key head are neighbours; tiled: they are `key_heads` apart.
int64_t same_head(int64_t head, const GatedDeltaConfig& delta, ValueHeads to, ValueHeads from) {
  if (to == from) return head;
  const int64_t group = delta.value_heads / delta.key_heads;
  if (to == ValueHeads::kTiled) return head % delta.key_heads * group + head / delta.key_heads;
  return head % group * delta.key_heads + head / group;
}

// Empty where nothing moves.
std::vector<int64_t> places(const HeadSpan& heads, int64_t size, const GatedDeltaConfig& delta,
                            ValueHeads wanted) {
  if (wanted == delta.order || delta.value_heads == delta.key_heads) return {};
  std::vector<int64_t> from(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    const int64_t within = i - heads.begin;
    const int64_t head = within / heads.size;
    const bool moves = within >= 0;
    from[static_cast<size_t>(i)] =
        moves ? heads.begin + same_head(head, delta, wanted, delta.order) * heads.size +
                    within % heads.size
              : i;
  }
  return from;
}

ExpertMatrix expert_matrix(const std::string& module) {
  if (module.ends_with("down_proj")) return ExpertMatrix::kDown;
  return module.ends_with("gate_proj") ? ExpertMatrix::kGate : ExpertMatrix::kUp;
}

Result<MatrixStack> read_stack(Checkpoint& checkpoint, const ModelTensor& tensor) {
  const std::string module = tensor.module();
  if (tensor.kind == TensorKind::kExperts) {
    const std::string mlp = module.substr(0, module.find(".switch_mlp."));
    return read_expert_stack(checkpoint, mlp, expert_matrix(module), tensor.count, tensor.rows,
                             tensor.cols);
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const MatrixView view,
                            read_matrix(checkpoint, module, tensor.rows, tensor.cols));
  return MatrixStack{.first = view, .count = 1, .stride_rows = view.rows};
}

// Adds or takes off the 1 of a norm.
void shift_norms(std::vector<float>& values, bool stored_with_one, bool wanted_with_one) {
  if (stored_with_one == wanted_with_one) return;
  for (float& value : values) value += wanted_with_one ? 1.0f : -1.0f;
}

Status convert_decay(std::vector<float>& values, bool stored_negative, bool wanted_negative,
                     const std::string& name) {
  if (stored_negative == wanted_negative) return {};
  for (float& value : values) {
    if (!wanted_negative && value >= 0.0f) {
      return Error{
          ErrorCode::kNumeric,
          fmt::format("{}: found {}, expected a number below 0, -exp(A_log)", name, value)};
    }
    value = static_cast<float>(wanted_negative ? -real_math::exp(value)
                                               : real_math::log(-static_cast<double>(value)));
  }
  return {};
}

}  // namespace

Status SourceTensor::read_values(Checkpoint& checkpoint, const ModelTensor& tensor,
                                 const Conventions& wanted) {
  if (tensor.kind == TensorKind::kConvolution) {
    LOCKSTEP_ASSIGN_OR_RETURN(values_,
                              read_conv_weight(checkpoint, tensor.name, tensor.rows, tensor.cols));
  } else {
    LOCKSTEP_ASSIGN_OR_RETURN(values_, read_vector(checkpoint, tensor.name, tensor.cols, false));
  }
  if (tensor.kind == TensorKind::kZeroCentredNorm) {
    const NormConvention& stored = tensor.draft() ? checkpoint.mtp_norms : checkpoint.norms;
    shift_norms(values_, !stored.add_one, wanted.norms_with_one);
  }
  if (tensor.kind == TensorKind::kDecay) {
    LOCKSTEP_RETURN_IF_ERROR(convert_decay(values_, checkpoint.layout == Layout::kGguf,
                                           wanted.negative_decay, tensor.name));
  }
  const MatrixView view{.encoding = Encoding::kDense,
                        .dtype = DType::kF32,
                        .rows = tensor.rows,
                        .cols = tensor.cols,
                        .data = reinterpret_cast<const std::byte*>(values_.data())};
  stack_ = {.first = view, .count = 1, .stride_rows = tensor.rows};
  return {};
}

Result<SourceTensor> SourceTensor::read(Checkpoint& checkpoint, const ModelTensor& tensor,
                                        const Conventions& wanted) {
  SourceTensor source;
  if (tensor.matrix()) {
    LOCKSTEP_ASSIGN_OR_RETURN(source.stack_, read_stack(checkpoint, tensor));
  } else {
    LOCKSTEP_RETURN_IF_ERROR(source.read_values(checkpoint, tensor, wanted));
  }
  const GatedDeltaConfig& delta = checkpoint.config.delta;
  if (tensor.heads.axis == HeadSpan::Axis::kRows) {
    source.row_order_ = places(tensor.heads, tensor.rows, delta, wanted.order);
  }
  if (tensor.heads.axis == HeadSpan::Axis::kColumns) {
    source.column_order_ = places(tensor.heads, tensor.cols, delta, wanted.order);
  }
  return source;
}

MatrixView SourceTensor::row_view(int64_t row) const {
  const int64_t expert = row / stack_.first.rows;
  const int64_t within = row % stack_.first.rows;
  const int64_t stored = row_order_.empty() ? within : row_order_[static_cast<size_t>(within)];
  return stack_.at(expert).row_slice(stored, 1);
}

void SourceTensor::decode(int64_t row, float* out) const {
  const MatrixView view = row_view(row);
  if (column_order_.empty()) return decode_row(view, 0, out);
  std::vector<float> stored(column_order_.size());
  decode_row(view, 0, stored.data());
  for (size_t k = 0; k < stored.size(); ++k) {
    out[k] = stored[static_cast<size_t>(column_order_[k])];
  }
}

std::optional<MatrixView> SourceTensor::stored_row(int64_t row) const {
  if (!column_order_.empty()) return std::nullopt;
  return row_view(row);
}

}  // namespace lockstep
