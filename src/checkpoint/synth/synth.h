// Synthetic checkpoints: seeded weights in the shape of a released model or of a micro model for
// tests, in the layouts that real checkpoints come in. Speed and memory are those of the real
// model; the text is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "checkpoint/synth/modules.h"
#include "checkpoint/synth/shapes.h"
#include "checkpoint/tensor_source.h"
#include "checkpoint/tile_loop.h"

namespace lockstep {

enum class SynthMtp : uint8_t {
  kIncluded,  // in the same files
  kSidecar,   // in a folder mtp/ with bare names; MLX layout only
  kAbsent,    // and the config says so
};

// Another encoding for some matrices, MLX layout only. A module whose path in the text-only
// spelling without ".weight" ("model.layers.0.mlp.down_proj", "mtp.fc") contains `part` gets
// it; the last match counts. bits 0 leaves it unquantised.
struct SynthOverride {
  std::string part;
  int bits = 0;
  int group = 64;
};

struct SynthOptions {
  Layout layout = Layout::kMlx;
  uint64_t seed = 0;
  // A model folder that lends its tokenizer, template and special ids, which must fit into the
  // shape's vocabulary; rows above are padding. Empty: none, for callers that feed token ids.
  std::filesystem::path tokenizer_folder = {};
  SynthMtp mtp = SynthMtp::kIncluded;
  uint64_t shard_bytes = 5'000'000'000;
  ThreadPool* pool = nullptr;  // null: the calling thread alone
  // Called now and then with the bytes written so far and in all; false stops with an error.
  Progress progress = {};

  // Variants that readers must understand. MLX: matrices have `bits` bits and groups of `group`
  // (routers and shared-expert gates 8 and 64), except where the rows are no multiple of the group
  // and for `overrides`. `dtype` (kBF16, kF16 or kF32) is that of scales, biases and everything
  // unquantised. With the same seed, an unquantised matrix has the same values in both layouts.
  DType dtype = DType::kBF16;
  int bits = 4;
  int group = 64;
  std::vector<SynthOverride> overrides = {};
};

// What a user types: "mlx4" or "bf16". Others are an error that lists these.
Result<Layout> parse_synth_format(std::string_view name);

struct SynthReport {
  std::filesystem::path folder;
  uint64_t tensor_bytes = 0;
  int64_t tensors = 0;
  SynthParameters parameters;  // mtp 0 if absent
};

// Writes a whole model folder; config.json comes last, so that an interrupted folder is no
// checkpoint. The folder must not exist or be empty. On an error nothing is left in it. The same
// shape, options and seed give the same bytes.
Result<SynthReport> write_synthetic_checkpoint(const SynthShape& shape,
                                               const std::filesystem::path& folder,
                                               const SynthOptions& options = {});

}  // namespace lockstep
