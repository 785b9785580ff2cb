#include "checkpoint/layout.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr int64_t kTaps = 4;

std::optional<Layout> layout_of(const std::vector<int64_t>& shape) {
  if (shape.size() != 3) return std::nullopt;
  if (shape[1] == 1 && shape[2] == kTaps) return Layout::kHuggingFace;
  if (shape[1] == kTaps && shape[2] == 1) return Layout::kMlx;
  return std::nullopt;
}

}  // namespace

Result<std::optional<Layout>> find_layout(const std::vector<TensorRecord>& tensors) {
  std::optional<Layout> layout;
  const TensorRecord* first = nullptr;
  for (const TensorRecord& record : tensors) {
    if (!record.name.ends_with(".linear_attn.conv1d.weight")) continue;
    const auto found = layout_of(record.shape);
    if (!found) {
      return Error{
          ErrorCode::kBadFile,
          fmt::format("{}: tensor {}: found shape {}, expected [C, 1, 4] (Hugging Face) or "
                      "[C, 4, 1] (MLX)",
                      record.file, record.source_name, format_shape(record.shape))};
    }
    if (layout && *layout != *found) {
      return Error{
          ErrorCode::kBadFile,
          fmt::format("{} is in {} layout {} but {} is in {} layout {}: the norms of such a "
                      "mixture cannot be read",
                      first->source_name, to_string(*layout), format_shape(first->shape),
                      record.source_name, to_string(*found), format_shape(record.shape))};
    }
    if (first == nullptr) first = &record;
    layout = found;
  }
  return layout;
}

}  // namespace lockstep
