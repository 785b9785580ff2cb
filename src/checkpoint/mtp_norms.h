// Are the draft head's norms stored as w or as 1 + w? Wrong guesses give drafts that are never
// accepted and no error, so the evidence is named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint.h"

namespace lockstep {

struct MtpNormEvidence {
  std::optional<std::string> encoding;  // what a config says
  std::optional<Layout> layout;         // of the weights that the draft head was stored with
};

// In this order: what is said; Hugging Face layout (no converter touched it: add 1); else the mean
// of mtp.pre_fc_norm_embedding, which is about -0.4 to 0.1 as w and 0.5 to 1.1 as 1 + w.
Result<NormConvention> decide_mtp_norms(const Checkpoint& checkpoint,
                                        const MtpNormEvidence& evidence,
                                        std::vector<std::string>& warnings);

}  // namespace lockstep
