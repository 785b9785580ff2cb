// The tokenizer and the chat template that a GGUF file carries, unchecked: text/token_list.h makes
// a tokenizer of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/gguf/metadata.h"
#include "checkpoint/gguf/writer.h"

namespace lockstep {

// Views into the file's bytes.
struct GgufText {
  std::string_view model;                // "gpt2": byte-level BPE
  std::string_view pre;                  // names the pattern that cuts words: "qwen35"
  std::vector<std::string_view> tokens;  // by id
  std::vector<int64_t> types;            // by id: 1 normal, 3 control, 4 user-defined, 5 unused
  std::vector<std::string_view> merges;  // "a b", by rank
  bool add_bos = false;
  std::optional<int64_t> bos_id, eos_id, padding_id;
  std::optional<std::string_view> chat_template;
};

// kNotFound where the file has no vocabulary.
Result<GgufText> read_gguf_text(const GgufMetadata& metadata);

// What read_gguf_text reads of it again.
void add_gguf_text(const GgufText& text, GgufWriter& writer);

}  // namespace lockstep
