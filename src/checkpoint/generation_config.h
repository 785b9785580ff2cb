// generation_config.json: what a checkpoint's authors recommend for sampling, and where replies
// stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/json_fields.h"

namespace lockstep {

// Absent: the file says nothing. Values are range-checked.
struct GenerationConfig {
  std::optional<bool> do_sample;             // false: the authors mean greedy decoding
  std::optional<double> temperature;         // [0, 100]
  std::optional<int64_t> top_k;              // [0, 2^31), 0 = off
  std::optional<double> top_p;               // (0, 1]
  std::optional<double> min_p;               // [0, 1]
  std::optional<double> repetition_penalty;  // (0, 100]
  std::optional<double> presence_penalty;    // [-100, 100]
  std::optional<double> frequency_penalty;   // [-100, 100]
  std::vector<int32_t> eos_ids;              // ascending; may be empty
};

// `eos_token_id`, one id or a list, ascending and without repetition; empty if absent.
Result<std::vector<int32_t>> read_eos_ids(const JsonFields& fields);

// Adds `more` to `ids`; the result is ascending and without repetition.
void merge_eos_ids(const std::vector<int32_t>& more, std::vector<int32_t>& ids);

// `file` names the text in messages.
Result<GenerationConfig> read_generation_config(const json::value& root, std::string_view file);

}  // namespace lockstep
