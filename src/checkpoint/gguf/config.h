// The configuration that a GGUF file states, as a ModelConfig, and the way back.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/gguf/metadata.h"
#include "checkpoint/gguf/writer.h"
#include "checkpoint/model_config.h"

namespace lockstep {

// Complete but for vocab_size and tie_word_embeddings, which the tensors decide. A missing shape,
// or a value out of range, is an error that names the key; another architecture, a vision file and
// an unknown kind of rope scaling are refused by name. mtp_layers is what nextn_predict_layers
// says. Value heads are in the order of ValueHeads::kTiled where the two orders differ.
Result<ModelConfig> read_gguf_config(const GgufMetadata& metadata);

// general.sampling.*, and the end of turn. Empty where the file says nothing.
Result<GenerationConfig> read_gguf_generation(const GgufMetadata& metadata);

// What read_gguf_config and read_gguf_generation read of it again; kUnsupported where the format
// has no word for something. Value heads must be meant in the order ValueHeads::kTiled.
Status add_gguf_config(const ModelConfig& config, GgufWriter& writer);
void add_gguf_generation(const GenerationConfig& generation, GgufWriter& writer);

}  // namespace lockstep
