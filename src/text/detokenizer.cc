#include "text/detokenizer.h"

#include <utility>

#include "text/utf8.h"

namespace lockstep {
namespace {

// Length of the text before a character that is cut off by the end.
size_t whole_length(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const size_t start = text.size() - back;
    const auto byte = static_cast<uint8_t>(text[start]);
    if ((byte & 0xC0u) == 0x80u) continue;  // inside a character: look further back
    const Utf8Step step = read_utf8(text.substr(start));
    return step.truncated ? start : text.size();
  }
  return text.size();
}

}  // namespace

std::string Detokenizer::push(int32_t id) {
  if (skip_special_ && tokenizer_->is_special(id)) return {};
  held_back_.append(tokenizer_->token_bytes(id));
  const size_t whole = whole_length(held_back_);
  std::string text = replace_invalid_utf8(std::string_view(held_back_).substr(0, whole));
  held_back_.erase(0, whole);
  return text;
}

std::string Detokenizer::finish() {
  return replace_invalid_utf8(std::exchange(held_back_, std::string()));
}

}  // namespace lockstep
