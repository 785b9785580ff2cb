// Weights by canonical module name, checked against the shape that the model wants. Each read marks
// its tensors as used (Checkpoint::used); a missing tensor is an error that lists the spellings
// looked for, a wrong one says what was found and what was expected. Views point into the mapped
// files: they live as long as the Checkpoint does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "formats/matrix.h"

namespace lockstep {

// W [rows, cols] of `module` ("model.layers.0.mlp.up_proj"): `module`.weight dense (F32, F16 or
// BF16), or MLX affine with .scales and .biases. Bits and group are derived from the shapes; a
// config that says otherwise is an error.
Result<MatrixView> read_matrix(Checkpoint& checkpoint, std::string_view module, int64_t rows,
                               int64_t cols);

enum class ExpertMatrix : uint8_t { kGate, kUp, kDown };

// The routed experts under `mlp` ("model.layers.0.mlp"), each [rows, cols] (gate and up [I,H], down
// [H,I]): `mlp`.experts.gate_up_proj [E,2I,H] and .down_proj [E,H,I], or
// `mlp`.switch_mlp.{gate,up,down}_proj, dense or affine, or one tensor per expert where these lie
// at one distance in one file.
Result<MatrixStack> read_expert_stack(Checkpoint& checkpoint, std::string_view mlp,
                                      ExpertMatrix which, int64_t experts, int64_t rows,
                                      int64_t cols);

// A vector [size] of F32, F16 or BF16 by its full canonical name
// ("model.layers.0.input_layernorm.weight", "model.layers.0.linear_attn.A_log"), widened to
// float32; `add_one` adds 1 in float32 (Checkpoint::norms). NaN and infinity are errors.
Result<std::vector<float>> read_vector(Checkpoint& checkpoint, std::string_view name, int64_t size,
                                       bool add_one);

// The causal convolution's taps as float32 [channels][taps], oldest tap first, from either layout.
Result<std::vector<float>> read_conv_weight(Checkpoint& checkpoint, std::string_view name,
                                            int64_t channels, int64_t taps);

}  // namespace lockstep
