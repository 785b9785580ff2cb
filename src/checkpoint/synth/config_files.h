// The texts of a synthetic checkpoint: configs, and the tokenizer that a model folder lends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "checkpoint/synth/plan.h"

namespace lockstep {

// What a lending folder says about its vocabulary. Empty where nothing is lent.
struct LentTokenizer {
  int64_t vocab = 0;
  json::value eos;       // the model's, null if not said
  json::value text_eos;  // text_config's
  json::object ids;      // image_token_id and the like
  struct File {
    std::string name;
    std::string text;
  };
  std::vector<File> files;  // tokenizer.json, tokenizer_config.json, ...
};

// `folder` empty: nothing is lent.
Result<LentTokenizer> read_lent_tokenizer(const std::filesystem::path& folder);

std::string config_text(const SynthShape& shape, const SynthOptions& options, const SynthPlan& plan,
                        const LentTokenizer& tokenizer);
// Of the folder mtp/.
std::string sidecar_config_text(const SynthShape& shape, const SynthOptions& options,
                                const SynthPlan& plan, const LentTokenizer& tokenizer);

}  // namespace lockstep
