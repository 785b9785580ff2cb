// Which tensors a synthetic checkpoint stores, under which names, and what each is filled from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/safetensors_writer.h"
#include "checkpoint/synth/synth.h"
#include "formats/affine_quantiser.h"

namespace lockstep {

struct StoredModule {
  // Values of the tensor's blocks of `part_rows` rows, in turn: the experts' gate and up lie in one
  // tensor in the Hugging Face layout. Otherwise one part of all rows.
  struct Part {
    uint64_t key = 0;
    Fill fill;
  };
  std::vector<Part> parts;
  int64_t part_rows = 0;
  int64_t rows = 0;  // of all experts; vectors are one row
  int64_t cols = 0;
  float offset = 0.0f;  // added to each value
  DType dtype = DType::kF32;
  std::optional<AffineFormat> affine;
  bool sidecar = false;  // its tensors are in SynthPlan::sidecar
  size_t tensor = 0;     // of the weight; scales and biases are the next two
  std::string path;      // as the file spells it, without ".weight"
};

struct SynthPlan {
  std::vector<StoredModule> modules;
  std::vector<TensorSpec> trunk;
  std::vector<TensorSpec> sidecar;
  uint64_t tensor_bytes = 0;
};

SynthPlan plan_checkpoint(const SynthShape& shape, const SynthOptions& options);

}  // namespace lockstep
