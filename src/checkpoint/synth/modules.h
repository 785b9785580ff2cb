// The weights of a model of some shape, in no file's layout yet: what there is, how large, and how
// its values are spread so that activations stay of order 1 from the first layer to the last and
// logits spread as a trained model's do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/synth/random_values.h"
#include "checkpoint/synth/shapes.h"

namespace lockstep {

enum class ModuleKind : uint8_t {
  kMatrix,           // may be quantised
  kZeroCentredNorm,  // w, applied as 1 + w
  kPlainNorm,        // linear_attn.norm
  kVector,           // dt_bias, convolution taps
  kALog,             // float32 in every layout
};

// Named as in a text-only Hugging Face file ("model.layers.0.mlp.up_proj.weight"), except that
// routed experts are stacks "...mlp.switch_mlp.{gate,up,down}_proj.weight" [E, out, in].
struct SynthModule {
  std::string name;
  std::vector<int64_t> shape;
  ModuleKind kind = ModuleKind::kMatrix;
  Fill fill;

  bool mtp() const { return name.starts_with("mtp."); }
  int64_t elements() const;
};

std::vector<SynthModule> synth_modules(const SynthShape& shape);

struct SynthParameters {
  int64_t text = 0;
  int64_t mtp = 0;
};
SynthParameters count_parameters(const SynthShape& shape);

}  // namespace lockstep
