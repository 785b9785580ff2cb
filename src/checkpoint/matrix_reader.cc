#include "checkpoint/matrix_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkpoint/foreign_format.h"
#include "checkpoint/quantization_check.h"
#include "checkpoint/tensor_names.h"
#include "checkpoint/vector_values.h"
#include "checkpoint/zero_rows.h"

namespace lockstep {
namespace {

using Shape = std::vector<int64_t>;

// The weight of one module: a matrix, or a stack of them where `lead` has two sizes.
struct Wanted {
  std::string module;
  std::string weight;  // `module`.weight, or the fused experts' own name
  Shape lead;          // all sizes but the last
  int64_t cols = 0;

  Shape shape(int64_t last) const {
    Shape all = lead;
    all.push_back(last);
    return all;
  }
  int64_t rows() const {
    int64_t product = 1;
    for (const int64_t size : lead) product *= size;
    return product;
  }
};

Error missing(const Checkpoint& checkpoint, std::string_view name) {
  return Error{ErrorCode::kBadFile,
               fmt::format("{}: tensor {} is missing; looked for it as {}",
                           checkpoint.path.string(), name, fmt::join(spellings_of(name), ", "))};
}

Error wrong_shape(const TensorRecord& record, const std::string& expected) {
  return Error{
      ErrorCode::kBadFile,
      fmt::format("{}: tensor {}: found {} {}, expected {}", record.file, record.source_name,
                  stored_type(record), format_shape(record.shape), expected)};
}

Error refuse_encoding(const TensorRecord& record, std::string_view encoding) {
  return Error{ErrorCode::kUnsupported,
               fmt::format("{}: tensor {} is stored as {}, which is not read yet; {}", record.file,
                           record.source_name, encoding, kReadableFormats)};
}

void mark_used(Checkpoint& checkpoint, const TensorRecord& record) {
  checkpoint.used[checkpoint.tensors.index_of(record)] = true;
}

// The size `count` of the last dimension of `record`, if the others are as wanted.
Result<int64_t> last_size(const TensorRecord& record, const Wanted& wanted) {
  if (record.shape.empty() || record.shape != wanted.shape(record.shape.back())) {
    std::string expected = format_shape(wanted.shape(0));
    expected.replace(expected.size() - 2, 1, "?");
    return wrong_shape(record, expected);
  }
  return record.shape.back();
}

Result<MatrixView> affine_view(Checkpoint& checkpoint, const Wanted& wanted,
                               const TensorRecord& weight, const TensorRecord& scales,
                               const TensorRecord& biases) {
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t words, last_size(weight, wanted));
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t groups, last_size(scales, wanted));
  const int64_t bits = words * 32 / wanted.cols;
  constexpr int64_t kBits[] = {2, 3, 4, 5, 6, 8};
  if (words * 32 != bits * wanted.cols ||
      std::find(std::begin(kBits), std::end(kBits), bits) == std::end(kBits)) {
    return wrong_shape(weight, fmt::format("{} inputs in 2, 3, 4, 5, 6 or 8 bits each, packed into "
                                           "32-bit words",
                                           wanted.cols));
  }
  const int64_t group = groups == 0 ? 0 : wanted.cols / groups;
  constexpr int64_t kGroups[] = {32, 64, 128};
  if (group * groups != wanted.cols ||
      std::find(std::begin(kGroups), std::end(kGroups), group) == std::end(kGroups)) {
    return wrong_shape(scales,
                       fmt::format("one value for each 32, 64 or 128 of {} inputs", wanted.cols));
  }
  if (!is_float_dtype(scales.dtype)) return wrong_shape(scales, "F32, F16 or BF16");
  if (biases.shape != scales.shape || biases.dtype != scales.dtype) {
    return wrong_shape(biases, fmt::format("{} {}, as in {}", to_string(scales.dtype),
                                           format_shape(scales.shape), scales.source_name));
  }
  LOCKSTEP_RETURN_IF_ERROR(check_affine(checkpoint, wanted.module, weight, bits, group));
  for (const TensorRecord* part : {&weight, &scales, &biases}) mark_used(checkpoint, *part);
  return MatrixView{.encoding = Encoding::kAffine,
                    .dtype = scales.dtype,
                    .bits = static_cast<int>(bits),
                    .group = static_cast<int>(group),
                    .rows = wanted.rows(),
                    .cols = wanted.cols,
                    .data = weight.data,
                    .scales = scales.data,
                    .biases = biases.data};
}

Result<MatrixView> dense_view(Checkpoint& checkpoint, const Wanted& wanted,
                              const TensorRecord& weight) {
  const Shape expected = wanted.shape(wanted.cols);
  if (weight.shape != expected) return wrong_shape(weight, format_shape(expected));
  LOCKSTEP_RETURN_IF_ERROR(check_dense(checkpoint, wanted.module, weight));
  mark_used(checkpoint, weight);
  return MatrixView{.encoding = Encoding::kDense,
                    .dtype = weight.dtype,
                    .rows = wanted.rows(),
                    .cols = wanted.cols,
                    .data = weight.data};
}

Result<MatrixView> block_view(Checkpoint& checkpoint, const Wanted& wanted,
                              const TensorRecord& weight) {
  const Shape expected = wanted.shape(wanted.cols);
  if (weight.shape != expected) return wrong_shape(weight, format_shape(expected));
  mark_used(checkpoint, weight);
  MatrixView view{.encoding = Encoding::kBlocks,
                  .block = *weight.blocks,
                  .rows = wanted.rows(),
                  .cols = wanted.cols,
                  .data = weight.data};
  warn_about_zero_rows(view, weight, checkpoint.warnings);
  return view;
}

Result<MatrixView> read_weight(Checkpoint& checkpoint, const Wanted& wanted) {
  const TensorSource& tensors = checkpoint.tensors;
  const TensorRecord* weight = tensors.find(wanted.weight);
  const TensorRecord* scales = tensors.find(wanted.module + ".scales");
  const TensorRecord* biases = tensors.find(wanted.module + ".biases");
  const auto foreign = foreign_encoding(tensors, wanted.module);
  if (foreign) return refuse_encoding(*foreign->evidence, foreign->encoding);
  if (weight == nullptr) return missing(checkpoint, wanted.weight);
  if (weight->blocks) return block_view(checkpoint, wanted, *weight);
  if (is_float_dtype(weight->dtype)) {
    if (scales != nullptr) {
      return wrong_shape(*weight, fmt::format("U32, because {} exists", scales->source_name));
    }
    LOCKSTEP_ASSIGN_OR_RETURN(auto view, dense_view(checkpoint, wanted, *weight));
    warn_about_zero_rows(view, *weight, checkpoint.warnings);
    return view;
  }
  if (weight->dtype != DType::kU32) return wrong_shape(*weight, "F32, F16, BF16 or packed U32");
  if (scales == nullptr) return missing(checkpoint, wanted.module + ".scales");
  if (biases == nullptr) return missing(checkpoint, wanted.module + ".biases");
  LOCKSTEP_ASSIGN_OR_RETURN(auto view, affine_view(checkpoint, wanted, *weight, *scales, *biases));
  warn_about_zero_rows(view, *weight, checkpoint.warnings);
  return view;
}

MatrixStack split(const MatrixView& all, int64_t experts, int64_t first_row, int64_t rows) {
  return MatrixStack{
      .first = all.row_slice(first_row, rows), .count = experts, .stride_rows = all.rows / experts};
}

struct ExpertShape {
  int64_t experts = 0;
  int64_t rows = 0;
  int64_t cols = 0;
};

// One tensor per expert, if each lies at the same whole number of rows after the one before.
Result<MatrixStack> separate_experts(Checkpoint& checkpoint, const std::string& mlp,
                                     std::string_view part, const ExpertShape& shape) {
  std::vector<const TensorRecord*> records;
  MatrixStack stack;
  for (int64_t e = 0; e < shape.experts; ++e) {
    Wanted wanted{.module = fmt::format("{}.experts.{}.{}", mlp, e, part),
                  .weight = {},
                  .lead = {shape.rows},
                  .cols = shape.cols};
    wanted.weight = wanted.module + ".weight";
    LOCKSTEP_ASSIGN_OR_RETURN(const auto view, read_weight(checkpoint, wanted));
    if (e == 0) stack = {.first = view, .count = shape.experts, .stride_rows = shape.rows};
    records.push_back(checkpoint.tensors.find(wanted.weight));
  }
  const TensorRecord& first = *records[0];
  const auto row = static_cast<ptrdiff_t>(stack.first.row_bytes());
  const auto address = [](const TensorRecord& record) {
    return reinterpret_cast<intptr_t>(record.data);
  };
  const intptr_t step = records.size() > 1 ? address(*records[1]) - address(first) : row;
  bool regular = stack.first.encoding == Encoding::kDense && step > 0 && step % row == 0;
  for (size_t e = 0; e < records.size(); ++e) {
    regular = regular && records[e]->file == first.file && records[e]->dtype == first.dtype &&
              address(*records[e]) == address(first) + static_cast<intptr_t>(e) * step;
  }
  if (!regular) {
    return refuse_encoding(first, "one tensor per expert, scattered over the file");
  }
  if (records.size() > 1) stack.stride_rows = step / row;
  return stack;
}

}  // namespace

Result<MatrixView> read_matrix(Checkpoint& checkpoint, std::string_view module, int64_t rows,
                               int64_t cols) {
  const std::string name(module);
  return read_weight(checkpoint,
                     {.module = name, .weight = name + ".weight", .lead = {rows}, .cols = cols});
}

Result<MatrixStack> read_expert_stack(Checkpoint& checkpoint, std::string_view mlp,
                                      ExpertMatrix which, int64_t experts, int64_t rows,
                                      int64_t cols) {
  const std::string prefix(mlp);
  const bool down = which == ExpertMatrix::kDown;
  const std::string fused = prefix + (down ? ".experts.down_proj" : ".experts.gate_up_proj");
  const std::string_view part =
      down ? "down_proj" : (which == ExpertMatrix::kGate ? "gate_proj" : "up_proj");
  const std::string switched = fmt::format("{}.switch_mlp.{}", prefix, part);
  const auto exists = [&](const std::string& name) {
    return checkpoint.tensors.find(name) != nullptr;
  };
  if (exists(fused)) {
    const int64_t stored_rows = down ? rows : 2 * rows;
    LOCKSTEP_ASSIGN_OR_RETURN(
        const auto all,
        read_weight(
            checkpoint,
            {.module = fused, .weight = fused, .lead = {experts, stored_rows}, .cols = cols}));
    return split(all, experts, which == ExpertMatrix::kUp ? rows : 0, rows);
  }
  if (exists(fmt::format("{}.experts.0.{}.weight", prefix, part))) {
    return separate_experts(checkpoint, prefix, part, {experts, rows, cols});
  }
  if (!exists(switched + ".weight") && !foreign_encoding(checkpoint.tensors, switched)) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: the experts of {} are missing; looked for {}, {}.weight and "
                             "{}.experts.0.{}.weight",
                             checkpoint.path.string(), prefix, fused, switched, prefix, part)};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const auto all, read_weight(checkpoint, {.module = switched,
                                                                     .weight = switched + ".weight",
                                                                     .lead = {experts, rows},
                                                                     .cols = cols}));
  return split(all, experts, 0, rows);
}

Result<std::vector<float>> read_vector(Checkpoint& checkpoint, std::string_view name, int64_t size,
                                       bool add_one) {
  const TensorRecord* record = checkpoint.tensors.find(name);
  if (record == nullptr) return missing(checkpoint, name);
  if (record->shape != Shape{size}) return wrong_shape(*record, format_shape({size}));
  LOCKSTEP_ASSIGN_OR_RETURN(auto values, widen_to_float(*record));
  mark_used(checkpoint, *record);
  if (add_one) {
    for (float& value : values) value += 1.0f;
  }
  return values;
}

Result<std::vector<float>> read_conv_weight(Checkpoint& checkpoint, std::string_view name,
                                            int64_t channels, int64_t taps) {
  const TensorRecord* record = checkpoint.tensors.find(name);
  if (record == nullptr) return missing(checkpoint, name);
  Shape wanted = {channels, 1, taps};
  if (checkpoint.layout == Layout::kMlx) wanted = {channels, taps, 1};
  if (checkpoint.layout == Layout::kGguf) wanted = {channels, taps};
  if (record->shape != wanted) return wrong_shape(*record, format_shape(wanted));
  LOCKSTEP_ASSIGN_OR_RETURN(auto values, widen_to_float(*record));
  mark_used(checkpoint, *record);
  return values;
}

}  // namespace lockstep
