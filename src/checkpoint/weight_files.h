// The safetensors files of one model or draft head, mapped.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

struct WeightFiles {
  std::vector<MappedFile> files;
  std::vector<TensorRecord> tensors;            // `name` is not yet canonical: the source name
  std::map<std::string, std::string> metadata;  // of all files; the first to say something wins
};

// One .safetensors file.
Result<WeightFiles> open_weight_file(const std::filesystem::path& path);

// The shards that `folder`/model.safetensors.index.json names, or model.safetensors. Every tensor
// of the index must lie in the shard that it names, and the shards must hold nothing else.
Result<WeightFiles> open_weight_folder(const std::filesystem::path& folder);

}  // namespace lockstep
