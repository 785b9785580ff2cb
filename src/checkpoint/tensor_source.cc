#include "checkpoint/tensor_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep {

const char* to_string(Layout layout) {
  switch (layout) {
    case Layout::kHuggingFace:
      return "Hugging Face";
    case Layout::kMlx:
      return "MLX";
    case Layout::kGguf:
      return "GGUF";
  }
  return "?";
}

const char* stored_type(const TensorRecord& record) {
  return record.blocks ? to_string(*record.blocks) : to_string(record.dtype);
}

std::string format_shape(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<TensorSource> TensorSource::make(std::vector<TensorRecord> records) {
  TensorSource source;
  source.tensors_ = std::move(records);
  std::vector<TensorRecord>& all = source.tensors_;
  std::sort(all.begin(), all.end(), [](const TensorRecord& a, const TensorRecord& b) {
    return a.name != b.name ? a.name < b.name : a.source_name < b.source_name;
  });
  const auto twin = std::adjacent_find(
      all.begin(), all.end(),
      [](const TensorRecord& a, const TensorRecord& b) { return a.name == b.name; });
  if (twin != all.end()) {
    return Error{
        ErrorCode::kBadFile,
        fmt::format("tensor {} is stored twice: as {} in {} and as {} in {}; keep one of them",
                    twin->name, twin[0].source_name, twin[0].file, twin[1].source_name,
                    twin[1].file)};
  }
  return source;
}

const TensorRecord* TensorSource::find(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const TensorRecord& record, std::string_view wanted) { return record.name < wanted; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace lockstep
