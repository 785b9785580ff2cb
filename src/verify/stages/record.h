// Runs a sequence through the engine, or through its float64 pass, and keeps the stages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/cpu_context.h"
#include "model/forward_pass.h"
#include "model/model.h"
#include "verify/stages/dump.h"

namespace lockstep::verify {

// Called with work done and in all, in units of its own.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct EngineRecord {
  StageDump dump;
  // All rows: the residual stream [T, H] after the embedding and after each layer, and the final
  // norm's output: what the float64 pass is fed in the place of its own.
  std::vector<std::vector<float>> residual;
  std::vector<float> final_norm;
};

// Rows of a round that records.
inline constexpr PassLimits kRecordLimits = {.rows = 64, .logit_rows = 64};

// A dump of what the engine makes of `ids`, without stages.
StageDump begin_dump(const Model& model, std::span<const int32_t> ids,
                     std::span<const int32_t> positions);

// Calls `run(begin)` for each round of kRecordLimits.rows of `count` rows.
template <typename Run>
Status run_in_rounds(size_t count, const Progress& progress, Run&& run) {
  for (size_t begin = 0; begin < count; begin += kRecordLimits.rows) {
    LOCKSTEP_RETURN_IF_ERROR(run(static_cast<int64_t>(begin)));
    if (progress) progress(std::min<uint64_t>(begin + kRecordLimits.rows, count), count);
  }
  return {};
}

// CRC-32 of the weight files, in path order.
std::string weights_checksum(const Checkpoint& checkpoint);

// `positions` ascending, within `ids`. The draft head, where the model has one, is fed the hidden
// rows after the final norm. Errors: an id outside the vocabulary, no memory, a value that is not
// finite.
Result<EngineRecord> record_engine(const Model& model, const CpuContext& context,
                                   std::span<const int32_t> ids, std::span<const int32_t> positions,
                                   const Progress& progress);

enum class Feed {
  kOwn,      // every layer, the final norm, the head and the draft head get the engine's input
  kChained,  // everything follows from the ids
};

// The stages of the float64 pass at the positions of `engine`.
StageDump record_float64(const Model& model, const EngineRecord& engine, Feed feed,
                         const Progress& progress);

}  // namespace lockstep::verify
