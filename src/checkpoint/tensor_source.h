// Named tensors of a checkpoint, mapped from disk. Names are canonical: the text-only Hugging Face
// spelling ("model.layers.0.mlp.up_proj.weight", "lm_head.weight", "mtp.fc.weight",
// "visual.patch_embed.proj.weight"), whatever prefix the file uses. What lies in the tensors is the
// layout's own (Layout).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "formats/block_type.h"

namespace lockstep {

// Conventions that cannot be read off a single tensor.
enum class Layout : uint8_t {
  kHuggingFace,  // norms stored as w (add 1), convolution [C,1,4], experts fused gate|up
  kMlx,          // norms stored as 1 + w, convolution [C,4,1], experts in switch_mlp
  kGguf,  // norms as 1 + w, convolution [C,4], -exp(A_log) in place of A_log, experts in switch_mlp
};

const char* to_string(Layout layout);

struct TensorRecord {
  std::string name;         // canonical
  std::string source_name;  // as the file spells it
  std::string file;         // path of the file it lies in, for messages
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;  // any alignment
  size_t bytes = 0;
  std::optional<BlockType> blocks = {};  // GGUF blocks, whose dtype is U8; shape counts elements
};

// "BF16" or "Q4_K", for messages.
const char* stored_type(const TensorRecord& record);

// "[16, 384]", for messages.
std::string format_shape(const std::vector<int64_t>& shape);

class TensorSource {
 public:
  TensorSource() = default;
  // Two records of one canonical name are an error that names both spellings and files.
  static Result<TensorSource> make(std::vector<TensorRecord> records);

  // Null if there is none of that canonical name.
  const TensorRecord* find(std::string_view name) const;
  // Ascending by canonical name.
  const std::vector<TensorRecord>& tensors() const { return tensors_; }
  // Position of a record of this source in tensors().
  size_t index_of(const TensorRecord& record) const {
    return static_cast<size_t>(&record - tensors_.data());
  }

 private:
  std::vector<TensorRecord> tensors_;
};

}  // namespace lockstep
