#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/checkpoint.h"
#include "checkpoint/head_source.h"
#include "checkpoint/tensor_names.h"

namespace lockstep {
namespace {

constexpr size_t kMaxNamed = 8;

// Why the engine can do without `record`; empty if it should not.
std::string_view why_unneeded(const Checkpoint& checkpoint, const TensorRecord& record) {
  switch (role_of(record.name)) {
    case TensorRole::kVision:
      return "vision tower";
    case TensorRole::kDerived:
      return "rotary frequencies (computed)";
    case TensorRole::kReplaced:
      return "draft head (replaced by the one named)";
    case TensorRole::kDraft:
      return checkpoint.mtp.origin == MtpOrigin::kNone ? "draft head (off)" : "";
    case TensorRole::kHead:
      return checkpoint.head_module == kEmbeddingModule ? "stored copy of the tied head" : "";
    default:
      return "";
  }
}

}  // namespace

UnusedTensors unused_tensors(const Checkpoint& checkpoint) {
  UnusedTensors unused;
  const std::vector<TensorRecord>& tensors = checkpoint.tensors.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (checkpoint.used[i]) continue;
    const std::string_view why = why_unneeded(checkpoint, tensors[i]);
    if (why.empty()) {
      unused.unknown.push_back(&tensors[i]);
      continue;
    }
    auto group = std::find_if(unused.unneeded.begin(), unused.unneeded.end(),
                              [&](const UnneededTensors& item) { return item.what == why; });
    if (group == unused.unneeded.end()) {
      group = unused.unneeded.insert(group, {.what = std::string(why), .tensors = {}, .bytes = 0});
    }
    group->tensors.push_back(&tensors[i]);
    group->bytes += tensors[i].bytes;
  }
  return unused;
}

Status check_no_unknown_tensors(const Checkpoint& checkpoint) {
  const auto unknown = unused_tensors(checkpoint).unknown;
  if (unknown.empty()) return {};
  std::string names;
  for (size_t i = 0; i < std::min(unknown.size(), kMaxNamed); ++i) {
    names += fmt::format("{}{} {}", i == 0 ? "" : ", ", unknown[i]->source_name,
                         format_shape(unknown[i]->shape));
  }
  if (unknown.size() > kMaxNamed) names += fmt::format(" and {} more", unknown.size() - kMaxNamed);
  return Error{
      ErrorCode::kUnsupported,
      fmt::format("{}: found {} tensors that nothing reads: {}; a model with unknown weights "
                  "may be another model (--allow-unused runs it all the same)",
                  checkpoint.path.string(), unknown.size(), names)};
}

}  // namespace lockstep
