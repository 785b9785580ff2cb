#include "checkpoint/page_loader.h"

#include <algorithm>

#include "checkpoint/head_source.h"
#include "checkpoint/tensor_names.h"

namespace lockstep {
namespace {

constexpr size_t kChunk = 16u << 20;

struct Span {
  const MappedFile* file = nullptr;
  size_t begin = 0;
  size_t bytes = 0;
};

bool is_needed(const Checkpoint& checkpoint, const TensorRecord& record) {
  switch (role_of(record.name)) {
    case TensorRole::kTrunk:
      return true;
    case TensorRole::kHead:
      return checkpoint.head_module == kHeadModule;
    case TensorRole::kDraft:
      return checkpoint.mtp.origin != MtpOrigin::kNone;
    default:
      return false;
  }
}

// In file order, so that the disk reads forward.
std::vector<Span> needed_spans(const Checkpoint& checkpoint) {
  std::vector<Span> spans;
  for (const TensorRecord& record : checkpoint.tensors.tensors()) {
    if (record.bytes == 0 || !is_needed(checkpoint, record)) continue;
    for (const MappedFile& file : checkpoint.files) {
      if (file.path() != record.file) continue;
      spans.push_back(
          {&file, static_cast<size_t>(record.data - file.bytes().data()), record.bytes});
      break;
    }
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.file != b.file ? a.file < b.file : a.begin < b.begin;
  });
  return spans;
}

}  // namespace

Status load_pages(const Checkpoint& checkpoint,
                  const std::function<void(uint64_t done, uint64_t total)>& progress) {
  const std::vector<Span> spans = needed_spans(checkpoint);
  uint64_t total = 0;
  for (const Span& span : spans) total += span.bytes;
  uint64_t done = 0;
  progress(done, total);
  for (const Span& span : spans) {
    for (size_t at = 0; at < span.bytes; at += kChunk) {
      const size_t size = std::min(kChunk, span.bytes - at);
      LOCKSTEP_RETURN_IF_ERROR(span.file->load(span.begin + at, size));
      done += size;
      progress(done, total);
    }
  }
  return {};
}

}  // namespace lockstep
