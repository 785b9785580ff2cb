// Writes a safetensors checkpoint of any size in constant memory: tensors are declared first, then
// their bytes come in any order, from any thread. Above a size limit the checkpoint is split into
// shards with an index. Nothing bears its final name before all of it is written.
//
// Files: `STEM.safetensors`, or `STEM-00001-of-00003.safetensors` ... and
// `STEM.safetensors.index.json`. Tensors keep the declared order over shards; inside a shard those
// with wider elements come first, so that every tensor is aligned to its elements.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "checkpoint/output_file.h"

namespace lockstep {

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
};

struct SafetensorsWriterOptions {
  std::string stem = "model";
  // Bytes of tensor data that a shard holds at most; a larger tensor has a shard of its own.
  uint64_t shard_bytes = 5'000'000'000;
  std::vector<std::pair<std::string, std::string>> metadata = {};  // "format": "mlx" or "pt"
  bool durable = true;  // finish() returns only when the data has reached the disk
};

class SafetensorsWriter {
 public:
  // Reserves the disk space and writes the headers. Refuses a name given twice or not plain,
  // sizes that overflow, and files that exist already.
  static Result<std::unique_ptr<SafetensorsWriter>> create(
      const std::filesystem::path& folder, std::vector<TensorSpec> tensors,
      const SafetensorsWriterOptions& options = {});

  // Bytes of tensor `index` (its place in the declaration) from `offset` on. Each byte must be
  // written exactly once. May be called by several threads.
  Status write(size_t index, uint64_t offset, std::span<const std::byte> bytes);

  // Gives the files their names, the index last. An error, and no file, if bytes are missing.
  // A writer that is dropped before leaves nothing behind.
  Status finish();

  uint64_t tensor_bytes() const { return tensor_bytes_; }           // of all tensors
  const std::vector<std::string>& files() const { return files_; }  // names without the folder

 private:
  struct Placed {
    size_t shard = 0;
    uint64_t begin = 0;  // in the file
    uint64_t bytes = 0;
  };

  SafetensorsWriter(std::filesystem::path folder, std::vector<TensorSpec> tensors,
                    SafetensorsWriterOptions options);
  Status place_in_shards();
  Status create_shard(size_t shard, size_t begin, size_t end);
  std::string index_text() const;

  std::filesystem::path folder_;
  std::vector<TensorSpec> tensors_;
  SafetensorsWriterOptions options_;
  std::vector<Placed> placed_;
  std::vector<std::string> files_;
  std::vector<OutputFile> shards_;
  std::unique_ptr<std::atomic<uint64_t>[]> written_;  // bytes, a count for each tensor
  uint64_t tensor_bytes_ = 0;
};

}  // namespace lockstep
