// A tokenizer.json of what a tokenizer says, for a checkpoint that carried it in another form.
#pragma once

#include <string>

#include "text/tokenizer_file.h"

namespace lockstep {

// parse_tokenizer_file reads `file` of it again, and Hugging Face tokenizers the same tokenizer.
std::string tokenizer_json(const TokenizerFile& file);

}  // namespace lockstep
