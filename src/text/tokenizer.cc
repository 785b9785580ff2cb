#include "text/tokenizer.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <mutex>
#include <system_error>
#include <utility>

#include "text/added_tokens.h"
#include "text/byte_pair_encoder.h"
#include "text/nfc.h"
#include "text/pattern_splitter.h"
#include "text/tokenizer_file.h"
#include "text/utf8.h"
#include "text/vocabulary.h"
#include "text/word_cache.h"
#include "text/word_splitter.h"

namespace lockstep {
namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 20;

// Normalisation makes text at most three times as long, and words are indexed by 31 bits.
constexpr size_t kMaxTextBytes = size_t{1} << 29;

// Buffers larger than this are not kept from call to call.
constexpr size_t kMaxKeptBytes = size_t{1} << 20;

// What one call of encode() needs; kept for the next.
struct Session {
  void release_large_buffers() {
    if (workspace.bytes() > kMaxKeptBytes) workspace = {};
    if (word_ends.capacity() * sizeof(size_t) > kMaxKeptBytes) word_ends = {};
    if (normalized.capacity() > kMaxKeptBytes) normalized = {};
  }

  WordCache cache;
  BytePairEncoder::Workspace workspace;
  std::vector<size_t> word_ends;
  std::string normalized;
};

// As many sessions as there were callers at once.
class SessionPool {
 public:
  std::unique_ptr<Session> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Session>();
    std::unique_ptr<Session> session = std::move(free_.back());
    free_.pop_back();
    return session;
  }
  void give_back(std::unique_ptr<Session> session) {
    session->release_large_buffers();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(session));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> free_;
};

Result<std::array<int32_t, 256>> find_byte_tokens(const Vocabulary& vocabulary) {
  std::array<int32_t, 256> tokens;
  for (size_t byte = 0; byte < tokens.size(); ++byte) {
    const char text = static_cast<char>(byte);
    const std::optional<int32_t> token = vocabulary.find_entry({&text, 1});
    if (!token) {
      return Error{
          ErrorCode::kUnsupported,
          fmt::format("model.vocab has no piece for byte 0x{:02X}; all 256 are needed", byte)};
    }
    tokens[byte] = *token;
  }
  return tokens;
}

AddedTokenMatcher make_matcher(const TokenizerFile& file, bool normalized) {
  std::vector<std::pair<std::string, AddedToken>> tokens;
  for (const AddedToken& token : file.added_tokens) {
    if (token.normalized == normalized) {
      tokens.emplace_back(added_token_text(token, file.nfc), token);
    }
  }
  return AddedTokenMatcher(std::move(tokens));
}

}  // namespace

struct Tokenizer::Impl {
  Impl(const TokenizerFile& file, std::unique_ptr<const Vocabulary> tokens, MergeTable merges,
       std::optional<PatternSplitter> words)
      : nfc(file.nfc),
        ignore_merges(file.ignore_merges),
        vocabulary(std::move(tokens)),
        encoder(std::move(merges)),
        splitter(std::move(words)),
        raw_matcher(make_matcher(file, false)),
        normalized_matcher(make_matcher(file, true)) {}

  Status encode_text(std::string_view text, AddedTokens added, Session& session,
                     std::vector<int32_t>& ids) const;
  Status encode_words(std::string_view text, Session& session, std::vector<int32_t>& ids) const;
  void encode_word(std::string_view word, Session& session, std::vector<int32_t>& ids) const;

  bool nfc;
  bool ignore_merges;
  std::unique_ptr<const Vocabulary> vocabulary;
  BytePairEncoder encoder;
  std::optional<PatternSplitter> splitter;  // none: the family's pattern, by split_words
  AddedTokenMatcher raw_matcher;            // in the text as it came
  AddedTokenMatcher normalized_matcher;     // in what is left, normalised
  mutable SessionPool sessions;
};

void Tokenizer::Impl::encode_word(std::string_view word, Session& session,
                                  std::vector<int32_t>& ids) const {
  WordCache::Slot* slot = nullptr;
  if (word.size() <= WordCache::kMaxBytes) {
    slot = &session.cache.slot(word);
    if (slot->holds(word)) {
      ids.insert(ids.end(), slot->tokens().begin(), slot->tokens().end());
      return;
    }
  }
  const size_t before = ids.size();
  const std::optional<int32_t> whole = ignore_merges ? vocabulary->find_entry(word) : std::nullopt;
  if (whole) {
    ids.push_back(*whole);
  } else {
    encoder.encode(word, session.workspace, ids);
  }
  if (slot != nullptr) slot->store(word, std::span(ids).subspan(before));
}

// `text` holds no added tokens and is normalised.
Status Tokenizer::Impl::encode_words(std::string_view text, Session& session,
                                     std::vector<int32_t>& ids) const {
  session.word_ends.clear();
  if (splitter) {
    LOCKSTEP_RETURN_IF_ERROR(splitter->split(text, session.word_ends));
  } else {
    split_words(text, session.word_ends);
  }
  size_t start = 0;
  for (const size_t end : session.word_ends) {
    encode_word(text.substr(start, end - start), session, ids);
    start = end;
  }
  return {};
}

Status Tokenizer::Impl::encode_text(std::string_view text, AddedTokens added, Session& session,
                                    std::vector<int32_t>& ids) const {
  using Piece = AddedTokenMatcher::Piece;
  const bool keep_special = added == AddedTokens::kNotSpecial;
  const auto cut = [&](const AddedTokenMatcher& matcher, std::string_view part) {
    std::vector<Piece> pieces;
    if (added == AddedTokens::kNone) {
      pieces.push_back({AddedTokenMatcher::kText, part});
    } else {
      matcher.split(part, keep_special, pieces);
    }
    return pieces;
  };
  for (const Piece& raw : cut(raw_matcher, text)) {
    if (raw.id != AddedTokenMatcher::kText) {
      ids.push_back(raw.id);
      continue;
    }
    const std::string_view normalized =
        nfc ? normalize_nfc(raw.text, session.normalized) : raw.text;
    for (const Piece& piece : cut(normalized_matcher, normalized)) {
      if (piece.id != AddedTokenMatcher::kText) {
        ids.push_back(piece.id);
        continue;
      }
      LOCKSTEP_RETURN_IF_ERROR(encode_words(piece.text, session, ids));
    }
  }
  return {};
}

Result<std::unique_ptr<Tokenizer::Impl>> Tokenizer::build(const TokenizerFile& file) {
  std::optional<PatternSplitter> splitter;
  if (file.pattern != kFamilyPattern) {
    LOCKSTEP_ASSIGN_OR_RETURN(splitter, PatternSplitter::compile(file.pattern));
  }
  auto vocabulary = std::make_unique<const Vocabulary>(file);
  LOCKSTEP_ASSIGN_OR_RETURN(const auto byte_tokens, find_byte_tokens(*vocabulary));
  MergeTable merges(file.merges, byte_tokens);
  return std::make_unique<Impl>(file, std::move(vocabulary), std::move(merges),
                                std::move(splitter));
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, std::string_view name) {
  LOCKSTEP_ASSIGN_OR_RETURN(const TokenizerFile file, parse_tokenizer_file(json, name));
  return make(file, name);
}

Result<Tokenizer> Tokenizer::make(const TokenizerFile& file, std::string_view name) {
  Result<std::unique_ptr<Impl>> impl = build(file);
  if (impl.ok()) return Tokenizer(std::move(impl).value());
  return Error{impl.error().code, fmt::format("{}: {}", name, impl.error().message)};
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, AddedTokens added) const {
  if (text.size() > kMaxTextBytes) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the text has {} bytes; at most {} can be tokenised at once",
                             text.size(), kMaxTextBytes)};
  }
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = replace_invalid_utf8(text);
    text = repaired;
  }
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 3);
  std::unique_ptr<Session> session = impl_->sessions.take();
  const Status status = impl_->encode_text(text, added, *session, ids);
  impl_->sessions.give_back(std::move(session));
  if (!status.ok()) return status.error();
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const int32_t id : ids) {
    if (skip_special && is_special(id)) continue;
    bytes.append(token_bytes(id));
  }
  return is_valid_utf8(bytes) ? bytes : replace_invalid_utf8(bytes);
}

std::string_view Tokenizer::token_bytes(int32_t id) const { return impl_->vocabulary->bytes(id); }

std::optional<int32_t> Tokenizer::find_token(std::string_view bytes) const {
  return impl_->vocabulary->find(bytes);
}

int32_t Tokenizer::vocab_size() const { return impl_->vocabulary->size(); }
bool Tokenizer::is_special(int32_t id) const { return impl_->vocabulary->is_special(id); }
bool Tokenizer::is_added(int32_t id) const { return impl_->vocabulary->is_added(id); }

Result<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code fault;
  const auto size = std::filesystem::file_size(path, fault);
  if (fault) return Error{ErrorCode::kIo, fmt::format("{}: {}", name, fault.message())};
  if (size > kMaxFileBytes) {
    return Error{ErrorCode::kBadFile, fmt::format("{}: {} bytes; a tokenizer.json has at most {}",
                                                  name, size, kMaxFileBytes)};
  }
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) {
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be read", name)};
  }
  return Tokenizer::parse(text, name);
}

}  // namespace lockstep
