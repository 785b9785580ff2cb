// The limit that decode is measured against: how fast all threads together read memory.
#pragma once

#include <cstdint>
#include <optional>

#include "base/buffer.h"
#include "base/result.h"
#include "kernels/cpu_context.h"

namespace lockstep::bench {

// Memory far larger than the caches, read again and again.
class ReadBandwidth {
 public:
  // Errors: no memory for `bytes`.
  static Result<ReadBandwidth> make(uint64_t bytes);

  // Bytes a second of one pass over all of it by all threads of the context.
  double measure(const CpuContext& context);

 private:
  explicit ReadBandwidth(Buffer<uint64_t> words) : words_(std::move(words)) {}

  Buffer<uint64_t> words_;
  uint64_t parity_ = 0;  // keeps the reads from being left out
};

}  // namespace lockstep::bench
