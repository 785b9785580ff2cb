// For tests: a checkpoint without files, and what its errors say.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/testing/tiny_model.h"

namespace lockstep {

template <typename T>
void expect_error(const Result<T>& result, ErrorCode code, const std::string& named) {
  ASSERT_FALSE(result.ok()) << named;
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(named), std::string::npos) << result.error().message;
}

inline bool mentions(const std::vector<std::string>& sentences, const std::string& words) {
  for (const std::string& sentence : sentences) {
    if (sentence.find(words) != std::string::npos) return true;
  }
  return false;
}

// Writes `model` into a folder of its own and opens it.
inline Result<Checkpoint> open_tiny(const TinyModel& model, const OpenOptions& options = {}) {
  const TempFolder folder;
  write_model(folder.path(), model);
  return open_checkpoint(folder.path(), options);
}

// Tensors in memory under canonical names, as the readers see them. Each lies at an odd address.
struct MemoryCheckpoint {
  explicit MemoryCheckpoint(const TestTensors& tensors) : stored(tensors) {
    std::vector<TensorRecord> records;
    for (auto& [name, tensor] : stored) {
      tensor.bytes.insert(0, 1, '\0');
      const auto* begin = reinterpret_cast<const std::byte*>(tensor.bytes.data()) + 1;
      records.push_back({name, "stored." + name, "memory.safetensors", tensor.dtype, tensor.shape,
                         begin, tensor.bytes.size() - 1});
    }
    checkpoint.path = "memory";
    checkpoint.tensors = TensorSource::make(std::move(records)).value();
    checkpoint.used.assign(checkpoint.tensors.tensors().size(), false);
  }
  bool used(const std::string& name) const {
    const TensorRecord* record = checkpoint.tensors.find(name);
    return record != nullptr && checkpoint.used[checkpoint.tensors.index_of(*record)];
  }

  TestTensors stored;
  Checkpoint checkpoint;
};

}  // namespace lockstep
