// Finds and opens a draft head (MTP) that lies beside its model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/model_config.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/tensor_source.h"
#include "checkpoint/weight_files.h"

namespace lockstep {

struct DraftHead {
  std::filesystem::path path;  // the folder or file
  std::string how;             // how it was found, for messages
  WeightFiles weights;         // canonical names, all in mtp.*
  QuantizationConfig quantization;
  std::optional<std::string> norm_encoding;  // what a config says about its norms
  std::optional<Layout> layout;              // of the model that it was stored with, if it was
};

struct DraftHeadSearch {
  std::filesystem::path folder;  // of the model
  std::filesystem::path named;   // by the user; empty: look in `folder`
  const json::value* config_root = nullptr;
  const ModelConfig* config = nullptr;
};

// nullopt if none is named and none lies in the folder's known places: a file that config.json
// (mlx_lm_extra_tensors.mtp_file) or mtplx_runtime.json names, the folder mtp/, mtp.safetensors,
// mtp-*.safetensors. One that belongs to another model is an error.
Result<std::optional<DraftHead>> find_draft_head(const DraftHeadSearch& search,
                                                 std::vector<std::string>& warnings);

// `mtplx_mtp_norm_encoding`, `mtp_norm_encoding` or mtplx_mtp_quantization.norm_encoding of a
// config.
std::optional<std::string> find_norm_encoding(const json::value& root);

}  // namespace lockstep
