#include "checkpoint/synth/shapes.h"

#include <fmt/format.h>

#include <string>

namespace lockstep {
namespace {

constexpr int64_t kVocab = 248320;      // of every release
constexpr int64_t kPositions = 262144;  // of every release
constexpr int64_t kMicroVocab = 12288;  // of the embedded tokenizer
constexpr int64_t kMicroPositions = 32768;

// clang-format off
constexpr SynthShape kShapes[] = {
    {.name = "0.8b", .description = "dense, 24 layers, width 1024, 0.75 billion parameters",
     .layers = 24, .hidden = 1024, .intermediate = 3584, .heads = 8, .kv_heads = 2,
     .key_heads = 16, .value_heads = 16, .tied = true, .vocab = kVocab,
     .max_positions = kPositions},
    {.name = "2b", .description = "dense, 24 layers, width 2048, 1.9 billion parameters",
     .layers = 24, .hidden = 2048, .intermediate = 6144, .heads = 8, .kv_heads = 2,
     .key_heads = 16, .value_heads = 16, .tied = true, .vocab = kVocab,
     .max_positions = kPositions},
    {.name = "4b", .description = "dense, 32 layers, width 2560, 4.2 billion parameters",
     .layers = 32, .hidden = 2560, .intermediate = 9216, .heads = 16, .kv_heads = 4,
     .key_heads = 16, .value_heads = 32, .tied = true, .vocab = kVocab,
     .max_positions = kPositions},
    {.name = "9b", .description = "dense, 32 layers, width 4096, 9.0 billion parameters",
     .layers = 32, .hidden = 4096, .intermediate = 12288, .heads = 16, .kv_heads = 4,
     .key_heads = 16, .value_heads = 32, .vocab = kVocab, .max_positions = kPositions},
    {.name = "27b", .description = "dense, 64 layers, width 5120, 26.9 billion parameters",
     .layers = 64, .hidden = 5120, .intermediate = 17408, .heads = 24, .kv_heads = 4,
     .key_heads = 16, .value_heads = 48, .vocab = kVocab, .max_positions = kPositions},
    {.name = "35b-a3b",
     .description = "experts, 8 of 256, 40 layers, width 2048, 34.7 billion parameters",
     .layers = 40, .hidden = 2048, .heads = 16, .kv_heads = 2, .key_heads = 16,
     .value_heads = 32, .experts = 256, .experts_per_token = 8, .expert_intermediate = 512,
     .vocab = kVocab, .max_positions = kPositions},
    {.name = "micro-r1",
     .description = "for tests: dense, 1 value head a key head, query groups of 4, tied head",
     .layers = 4, .hidden = 128, .intermediate = 192, .heads = 8, .kv_heads = 2,
     .key_heads = 2, .value_heads = 2, .tied = true, .vocab = kMicroVocab,
     .max_positions = kMicroPositions},
    {.name = "micro-r3",
     .description = "for tests: dense, 3 value heads a key head, query groups of 6, own head",
     .layers = 4, .hidden = 192, .intermediate = 256, .heads = 12, .kv_heads = 2,
     .key_heads = 2, .value_heads = 6, .vocab = kMicroVocab, .max_positions = kMicroPositions},
    {.name = "micro-r8",
     .description = "for tests: dense, 8 value heads a key head, query groups of 8, tied head",
     .layers = 4, .hidden = 128, .intermediate = 320, .heads = 8, .kv_heads = 1,
     .key_heads = 2, .value_heads = 16, .tied = true, .vocab = kMicroVocab,
     .max_positions = kMicroPositions},
    {.name = "micro-moe16",
     .description = "for tests: experts, 4 of 16, 2 value heads a key head, query groups of 4",
     .layers = 4, .hidden = 128, .heads = 4, .kv_heads = 1, .key_heads = 2, .value_heads = 4,
     .experts = 16, .experts_per_token = 4, .expert_intermediate = 64, .vocab = kMicroVocab,
     .max_positions = kMicroPositions},
    {.name = "micro-moe256",
     .description = "for tests: experts, 8 of 256, 2 value heads a key head, query groups of 8",
     .layers = 4, .hidden = 64, .heads = 8, .kv_heads = 1, .key_heads = 1, .value_heads = 2,
     .experts = 256, .experts_per_token = 8, .expert_intermediate = 64, .vocab = kMicroVocab,
     .max_positions = kMicroPositions},
};
// clang-format on

}  // namespace

std::span<const SynthShape> synth_shapes() { return kShapes; }

Result<SynthShape> find_synth_shape(std::string_view name) {
  std::string known;
  for (const SynthShape& shape : kShapes) {
    if (shape.name == name) return shape;
    if (!known.empty()) known += ", ";
    known += shape.name;
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no shape \"{}\"; known are {}", name, known)};
}

}  // namespace lockstep
