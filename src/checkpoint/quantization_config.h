// What config.json says about quantisation. Shapes decide (matrix_reader.h); this is the
// cross-check.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/tensor_names.h"

namespace lockstep {

struct QuantizationScheme {
  int64_t bits = 0;   // 0: not said
  int64_t group = 0;  // 0: not said
  std::string mode = "affine";
};

// MLX's `quantization` object.
struct QuantizationConfig {
  std::optional<QuantizationScheme> global;
  // By canonical module name ("model.layers.3.mlp.gate"); nullopt: the module is not quantised.
  std::map<std::string, std::optional<QuantizationScheme>, std::less<>> overrides;

  bool empty() const { return !global && overrides.empty(); }
};

// Reads `quantization`, or `quantization_config` where only that exists, at the top or in
// text_config; empty if there is none. Schemes of other makers (`quant_method`: fp8, modelopt,
// compressed-tensors, gptq, awq, ...) are refused by name. `scope` says whose the module paths are.
Result<QuantizationConfig> read_quantization_config(const json::value& root, std::string_view file,
                                                    NameScope scope);
// The same for one such object.
Result<QuantizationConfig> read_quantization_object(const JsonFields& fields, NameScope scope);

}  // namespace lockstep
