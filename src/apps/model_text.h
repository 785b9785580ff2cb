// The tokenizer and the chat template that came with a checkpoint: of a GGUF file its own, else
// those of the folder.
#pragma once

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace lockstep {

Result<Tokenizer> tokenizer_of(const Checkpoint& checkpoint);

// kNotFound where there is none.
Result<ChatTemplate> chat_template_of(const Checkpoint& checkpoint);

}  // namespace lockstep
