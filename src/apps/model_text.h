// The tokenizer and the chat template that came with a checkpoint: of a GGUF file its own, else
// those of the folder.
#pragma once

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace lockstep {

Result<Tokenizer> tokenizer_of(const Checkpoint& checkpoint);

// What that of a GGUF file is made of.
Result<TokenizerFile> tokenizer_file_of(const Checkpoint& checkpoint);

// kNotFound where there is none.
Result<ChatTemplate> chat_template_of(const Checkpoint& checkpoint);

}  // namespace lockstep
