// The GGUF files of one model, mapped.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "checkpoint/gguf/metadata.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

struct GgufFiles {
  std::vector<MappedFile> files;
  GgufMetadata metadata;  // of the first file; its texts lie in `files`
  // Shapes as everywhere, the inner dimension last. `name` is not yet canonical: the source name.
  std::vector<TensorRecord> tensors;
};

// `path` itself if it is a GGUF file by its name or its first bytes; the one that lies in a folder
// without config.json and safetensors (vision towers and draft heads apart, the first of a split
// set). nullopt where there is none; several are an error.
Result<std::optional<std::filesystem::path>> find_gguf(const std::filesystem::path& path);

// A file, and where it is the first of a split set (NAME-00001-of-0000N.gguf) the others beside it.
Result<GgufFiles> open_gguf(const std::filesystem::path& path);

}  // namespace lockstep
