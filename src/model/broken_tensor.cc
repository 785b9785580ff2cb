#include "model/broken_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/float16.h"

namespace lockstep {
namespace {

template <typename Convert>
bool holds_broken(const TensorRecord& tensor, size_t size, const Convert& convert) {
  for (size_t offset = 0; offset + size <= tensor.bytes; offset += size) {
    if (!std::isfinite(convert(tensor.data + offset))) return true;
  }
  return false;
}

bool is_broken(const TensorRecord& tensor) {
  switch (tensor.dtype) {
    case DType::kF32:
      return holds_broken(tensor, 4, [](const void* p) { return load_unaligned<float>(p); });
    case DType::kF16:
      return holds_broken(tensor, 2,
                          [](const void* p) { return f16_to_float(load_unaligned<uint16_t>(p)); });
    case DType::kBF16:
      return holds_broken(tensor, 2,
                          [](const void* p) { return bf16_to_float(load_unaligned<uint16_t>(p)); });
    default:
      return false;
  }
}

}  // namespace

std::optional<std::string> find_broken_tensor(const Checkpoint& checkpoint, int64_t layer) {
  const auto layers = static_cast<int64_t>(checkpoint.config.layers.size());
  const std::string prefix = layer < 0        ? "model.embed_tokens."
                             : layer < layers ? fmt::format("model.layers.{}.", layer)
                                              : "model.norm.";
  const std::string head = layer == layers ? checkpoint.head_module + "." : prefix;
  for (const TensorRecord& tensor : checkpoint.tensors.tensors()) {
    if (!tensor.name.starts_with(prefix) && !tensor.name.starts_with(head)) continue;
    if (is_broken(tensor)) return fmt::format("{} of {}", tensor.source_name, tensor.file);
  }
  return std::nullopt;
}

}  // namespace lockstep
