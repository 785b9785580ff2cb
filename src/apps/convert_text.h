// The tokenizer and the chat template of a checkpoint, as another layout carries them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/convert/convert.h"
#include "checkpoint/gguf/text.h"
#include "text/token_list.h"

namespace lockstep {

struct TextForGguf {
  std::optional<GgufText> stored;  // of a GGUF file, as it stands; else the following
  TokenListTexts texts;
  std::optional<std::string> chat_template;
  std::optional<int64_t> eos_id, padding_id;
  std::vector<std::string> notes;  // what is left out, a sentence each

  // A view of this object, or of the file that the checkpoint was opened from.
  GgufText view() const;
};

Result<TextForGguf> text_for_gguf(const Checkpoint& checkpoint);

// The text files of a folder: those of the checkpoint's own as they stand, or what a GGUF file says
// in their form.
Result<std::vector<TextFile>> text_for_folder(const Checkpoint& checkpoint);

}  // namespace lockstep
