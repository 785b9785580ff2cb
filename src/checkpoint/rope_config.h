// The rotary part of config.json, in all its spellings.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/model_config.h"

namespace lockstep {

struct RopeFields {
  RopeConfig rope;
  int64_t rotary_dim = 0;
};

// `text` holds the text model's fields; appends to `warnings` what is odd.
Result<RopeFields> read_rope_config(const JsonFields& text, int64_t head_dim,
                                    std::vector<std::string>& warnings);

}  // namespace lockstep
