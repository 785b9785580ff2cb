// Text to token ids and back: byte-level BPE as a tokenizer.json describes it, with the same ids as
// Hugging Face tokenizers 0.23.3. Safe to use from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep {

struct TokenizerFile;

// Which added tokens encode() looks for in the text.
enum class AddedTokens {
  kAll,
  kNotSpecial,  // special ones (<|im_end|> ...) are cut into pieces like any text
  kNone,
};

class Tokenizer {
 public:
  // `json` is the text of a tokenizer.json, `name` what messages call it.
  static Result<Tokenizer> parse(std::string_view json, std::string_view name);

  // From what a file of another form says; `name` as above.
  static Result<Tokenizer> make(const TokenizerFile& file, std::string_view name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Broken UTF-8 counts as the text that replace_invalid_utf8 makes of it (text/utf8.h), which is
  // what a Python caller would have passed. Fails on text of 2^31 bytes or more, and where a
  // pattern other than the family's needs too many steps.
  Result<std::vector<int32_t>> encode(std::string_view text,
                                      AddedTokens added = AddedTokens::kAll) const;

  // The text of tokens; bytes that form no character become U+FFFD. Ids that no token has stand for
  // nothing.
  std::string decode(std::span<const int32_t> ids, bool skip_special = false) const;

  // The bytes that a token stands for, perhaps part of a character; empty if no token has the id.
  std::string_view token_bytes(int32_t id) const;

  // The id of an added token by its content, or of a vocabulary entry by its bytes.
  std::optional<int32_t> find_token(std::string_view bytes) const;

  // Highest id + 1.
  int32_t vocab_size() const;

  // True for added tokens that are marked special, which decode can skip.
  bool is_special(int32_t id) const;
  bool is_added(int32_t id) const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<Impl>> build(const TokenizerFile& file);

  std::unique_ptr<Impl> impl_;
};

// Reads a tokenizer.json, at most 256 MiB.
Result<Tokenizer> load_tokenizer(const std::filesystem::path& path);

}  // namespace lockstep
