// Converts an opened checkpoint, whatever its layout, into a file of another one. The draft head
// goes along; vision towers do not.
//
// Memory is bounded whatever the size: rows are decoded, encoded and written in tiles. Nothing that
// exists is overwritten, and the new file gets its name only when it has been read back and every
// value is what was encoded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"
#include "base/thread_pool.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/convert/conversion.h"
#include "checkpoint/gguf/tensor_type.h"
#include "checkpoint/gguf/text.h"
#include "formats/affine_quantiser.h"

namespace lockstep {

struct ConvertOptions {
  ThreadPool* pool = nullptr;  // null: the calling thread alone
  Progress writing = {};
  Progress checking = {};
  uint64_t shard_bytes = 5'000'000'000;  // of safetensors files
};

struct ConvertReport {
  std::filesystem::path path;
  int64_t tensors = 0;
  uint64_t bytes = 0;  // of tensors
  ConversionError error;
};

// A GGUF file `path`; `text` is its tokenizer. Tensors of `source` that nothing reads are an error,
// as in check_no_unknown_tensors.
Result<ConvertReport> convert_to_gguf(Checkpoint& source, const GgufText& text,
                                      const GgufTensorType& type, const std::filesystem::path& path,
                                      const ConvertOptions& options);

// A file that goes along as it is: tokenizer, chat template, generation_config.json.
struct TextFile {
  std::string name;
  std::string text;
};

// A folder `path` of safetensors, with config.json and `files`, and the draft head in a folder mtp/
// in it. Affine `format` for its matrices.
Result<ConvertReport> convert_to_mlx(Checkpoint& source, const AffineFormat& format,
                                     std::span<const TextFile> files,
                                     const std::filesystem::path& path,
                                     const ConvertOptions& options);

// As the releases are, bf16 with mtp.* among the rest.
Result<ConvertReport> convert_to_hugging_face(Checkpoint& source, std::span<const TextFile> files,
                                              const std::filesystem::path& path,
                                              const ConvertOptions& options);

// What a user types for the type of a GGUF file's matrices: "f32", "f16", "bf16", "q8_0", "q4_0" or
// "q4_k". Others are an error that lists these.
Result<GgufTensorType> parse_gguf_type(std::string_view name);

}  // namespace lockstep
