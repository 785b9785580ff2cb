// What exactness is checked on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace lockstep::verify {

using Prompt = std::vector<int32_t>;

// Prose of 288 tokens, more than one group of 256 keys and four pages of 64; program text of 96;
// several scripts in 64. The same texts for every model, repeated where a tokenizer needs fewer
// tokens.
Result<std::vector<Prompt>> built_in_prompts(const Tokenizer& tokenizer);

// A prompt a line, as text; empty lines are skipped. At most 64 MiB, kMostPrompts prompts of
// kMostPromptTokens tokens.
inline constexpr size_t kMostPrompts = 64;
inline constexpr size_t kMostPromptTokens = 4096;
Result<std::vector<Prompt>> read_prompts(const std::filesystem::path& path,
                                         const Tokenizer& tokenizer);

}  // namespace lockstep::verify
