// Opens a model of the Qwen3.5 family: a folder with MLX affine or Hugging Face safetensors, or a
// GGUF file, the draft head (MTP) included or beside it. Weights are mapped, never copied;
// matrix_reader.h gives views.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/gguf/metadata.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/model_config.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/tensor_source.h"

namespace lockstep {

struct OpenOptions {
  // A draft head to use instead of the one the checkpoint has: a folder or a .safetensors file.
  std::filesystem::path mtp_path;
  bool use_mtp = true;
  // Called as the weights' pages are read in, bytes done and in all, first with 0 and last with
  // done == total. Empty: nothing is read ahead, pages come on first touch.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

enum class MtpOrigin : uint8_t { kNone, kIncluded, kSidecar };

struct MtpSource {
  MtpOrigin origin = MtpOrigin::kNone;
  std::filesystem::path path;  // of the sidecar's weights
  std::string reason;          // why this one, or why none, a sentence
};

// Whether a zero-centred norm's stored weight still lacks its 1.
struct NormConvention {
  bool add_one = false;
  std::string reason;  // what decided, a sentence
};

// Movable; every pointer into the mapped files stays valid for as long as the object lives.
struct Checkpoint {
  std::filesystem::path path;  // the folder, or the GGUF file
  // Complete: vocab_size is the embedding's row count, mtp_layers is 0 without a draft head,
  // has_vision says that vision weights exist, eos_ids are merged.
  ModelConfig config;
  GenerationConfig generation;
  Layout layout = Layout::kHuggingFace;
  TensorSource tensors;      // the trunk, the head and the draft head in use, and the rest
  NormConvention norms;      // trunk: every zero-centred norm, never linear_attn.norm
  NormConvention mtp_norms;  // draft head
  MtpSource mtp;
  std::string head_module;              // what gives the logits: "lm_head" or "model.embed_tokens"
  std::string head_reason;              // a sentence
  QuantizationConfig quantization;      // of the trunk
  QuantizationConfig mtp_quantization;  // of the draft head; empty if nothing is said
  std::vector<std::string> warnings;    // odd but readable, a sentence each (config's included)

  GgufMetadata gguf;  // what a GGUF file says beside its tensors, its tokenizer included

  std::vector<MappedFile> files;
  std::vector<bool> used;  // per tensors.tensors(): read by matrix_reader.h
};

Result<Checkpoint> open_checkpoint(const std::filesystem::path& path, const OpenOptions& options);

// Tensors that the engine does not need, of one kind.
struct UnneededTensors {
  std::string what;  // "vision tower", "draft head (turned off)", ...
  std::vector<const TensorRecord*> tensors;
  uint64_t bytes = 0;
};

// What nothing has read. `unknown` is an error unless the user allows it: a checkpoint with weights
// that we do not understand is not the model we think it is.
struct UnusedTensors {
  std::vector<UnneededTensors> unneeded;
  std::vector<const TensorRecord*> unknown;
};
UnusedTensors unused_tensors(const Checkpoint& checkpoint);

// An error that lists `unknown` (the first few, and how many), if there are any.
Status check_no_unknown_tensors(const Checkpoint& checkpoint);

}  // namespace lockstep
