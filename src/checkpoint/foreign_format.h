// Names what a checkpoint holds that this engine cannot read yet, and says what would work.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

// Ends every refusal of a weight format.
inline constexpr std::string_view kReadableFormats =
    "use an MLX affine (2 to 8 bits) or a bf16, fp16 or fp32 safetensors export of this model";

// Why `folder` has no model.safetensors or index: what lies there instead.
Error no_weights_error(const std::filesystem::path& folder);

// Why `path`, which is a file, is not a model folder.
Error not_a_folder_error(const std::filesystem::path& path);

struct ForeignEncoding {
  std::string_view encoding;     // its name
  const TensorRecord* evidence;  // the tensor that gives it away
};

// What encoding `module` ("model.layers.0.mlp.up_proj") is in, by the tensors that lie beside or
// instead of its weight; nullopt if none of the known foreign ones.
std::optional<ForeignEncoding> foreign_encoding(const TensorSource& tensors,
                                                std::string_view module);

}  // namespace lockstep
