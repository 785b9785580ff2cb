// libFuzzer target: a tokenizer.json, and what it makes of a few texts. Whatever is accepted gives
// ids that it knows, and a text that says the same as itself again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/token_list.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace lockstep {
namespace {

constexpr std::string_view kTexts[] = {"", "Rain fell on the harbour.", "<|im_end|>\n\n  a1é\u0301",
                                       "\xff\xfe broken", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"};
constexpr int64_t kRows = 4096;

void try_text(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  if (!ids.ok()) return;
  for (const int32_t id : ids.value()) {
    LOCKSTEP_CHECK(id >= 0 && id < tokenizer.vocab_size(), "an id outside the vocabulary");
  }
  static_cast<void>(tokenizer.decode(ids.value()));
}

// As a GGUF file would carry it, and back.
void try_list(const TokenizerFile& file) {
  const auto texts = make_token_list(file, kRows, "fuzz");
  if (!texts.ok()) return;
  const TokenListTexts& made = texts.value();
  const std::vector<std::string_view> tokens(made.tokens.begin(), made.tokens.end());
  const std::vector<std::string_view> merges(made.merges.begin(), made.merges.end());
  const auto again = read_token_list(
      {.model = "gpt2", .pre = "qwen35", .tokens = tokens, .types = made.types, .merges = merges},
      "fuzz");
  if (!again.ok()) return;  // a piece with a space cannot be half of a merge, and so on
  LOCKSTEP_CHECK(again.value().merges.size() == file.merges.size(), "merges are lost");
  LOCKSTEP_CHECK(again.value().added_tokens.size() == file.added_tokens.size(), "tokens are lost");
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lockstep;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto file = parse_tokenizer_file(json, "fuzz");
  if (!file.ok()) return 0;
  try_list(file.value());
  const auto tokenizer = Tokenizer::make(file.value(), "fuzz");
  if (!tokenizer.ok()) return 0;
  for (const std::string_view text : kTexts) try_text(tokenizer.value(), text);
  return 0;
}
