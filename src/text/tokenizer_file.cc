#include "text/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <initializer_list>
#include <unordered_set>

#include "base/json.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

// Long added tokens would make their search slow; real ones have a few dozen bytes.
constexpr size_t kMaxAddedTokenBytes = 512;

// Flat, because a real vocabulary has a quarter of a million pieces and three look-ups a merge.
using PieceIds = boost::unordered_flat_map<std::string_view, int32_t>;

template <typename... Args>
Error bad_file(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorCode::kBadFile, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename... Args>
Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorCode::kUnsupported, fmt::format(format, std::forward<Args>(args)...)};
}

// The start of a text, for messages.
std::string excerpt(std::string_view text) {
  return quote_json(replace_invalid_utf8(text.substr(0, 80)));  // which may cut a character
}

// A value, or its start, as JSON.
std::string excerpt(const json::value& value) {
  if (value.is_string()) return excerpt(std::string_view(value.get_string()));
  if (value.is_object() || value.is_array()) return value.is_object() ? "an object" : "a list";
  return dump_json(value);
}

// The value of `key`; null if it is missing.
const json::value& field(const json::object& object, std::string_view key) {
  static const json::value null;
  const json::value* found = object.if_contains(key);
  return found != nullptr ? *found : null;
}

// The type that a component (normalizer, pre_tokenizer ...) names.
std::string_view type_of(const json::value& component) {
  if (!component.is_object()) return {};
  const json::value& type = field(component.get_object(), "type");
  return type.is_string() ? std::string_view(type.get_string()) : std::string_view();
}

Status check_known_keys(const json::object& object, std::string_view what,
                        std::initializer_list<std::string_view> known) {
  for (const auto& member : object) {
    if (std::find(known.begin(), known.end(), std::string_view(member.key())) == known.end()) {
      return unsupported("{} has the unknown field {}", what,
                         excerpt(std::string_view(member.key())));
    }
  }
  return {};
}

// The value as an id; -1 if it is none.
int32_t parse_id(const json::value& value) {
  const bool valid =
      value.is_int64() && value.get_int64() >= 0 && value.get_int64() < MergeTable::kMaxTokens;
  return valid ? static_cast<int32_t>(value.get_int64()) : -1;
}

Error bad_id(std::string_view owner, const json::value& value) {
  return bad_file("{} has the id {}; ids are whole numbers from 0 to {}", owner, excerpt(value),
                  MergeTable::kMaxTokens - 1);
}

Status parse_vocabulary(const json::value& value, TokenizerFile& file, PieceIds& ids) {
  if (!value.is_object() || value.get_object().empty()) {
    return bad_file("model.vocab is {}; a map from piece to id is expected", excerpt(value));
  }
  const json::object& vocabulary = value.get_object();
  ids.reserve(vocabulary.size());
  for (const auto& member : vocabulary) {
    const std::string_view piece = member.key();
    if (piece.empty()) return bad_file("model.vocab has an empty piece");
    const int32_t id = parse_id(member.value());
    if (id < 0) {
      return bad_id(fmt::format("piece {}", excerpt(piece)), member.value());
    }
    if (static_cast<size_t>(id) >= file.pieces.size()) {
      file.pieces.resize(std::max<size_t>(static_cast<size_t>(id) + 1, file.pieces.size() * 2));
    }
    if (!file.pieces[id].empty()) {
      return bad_file("pieces {} and {} have the same id {}",
                      excerpt(std::string_view(file.pieces[id])), excerpt(piece), id);
    }
    file.pieces[id] = piece;
    ids.emplace(piece, id);
  }
  while (file.pieces.back().empty()) file.pieces.pop_back();
  return {};
}

// The two pieces of a merge, written "a b" or ["a", "b"].
Result<std::pair<std::string_view, std::string_view>> parse_pair(const json::value& value,
                                                                 size_t rank) {
  if (value.is_string()) {
    const std::string_view both = value.get_string();
    const size_t space = both.find(' ');
    if (space != both.npos && both.find(' ', space + 1) == both.npos) {
      return std::pair(both.substr(0, space), both.substr(space + 1));
    }
  } else if (value.is_array() && value.get_array().size() == 2) {
    const json::array& pair = value.get_array();
    if (pair[0].is_string() && pair[1].is_string()) {
      return std::pair(std::string_view(pair[0].get_string()),
                       std::string_view(pair[1].get_string()));
    }
  }
  return bad_file("merge {} is {}; \"a b\" or a pair of strings is expected", rank, excerpt(value));
}

Status parse_merges(const json::value& value, const PieceIds& ids, TokenizerFile& file) {
  if (!value.is_array()) return bad_file("model.merges is {}; a list is expected", excerpt(value));
  const json::array& merges = value.get_array();
  if (merges.size() > MergeTable::kMaxMerges) {
    return unsupported("model.merges has {} entries; at most {} are supported", merges.size(),
                       MergeTable::kMaxMerges);
  }
  file.merges.reserve(merges.size());
  std::string merged;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    // The version line of a merges.txt, which old converters kept.
    if (merges[rank].is_string() && merges[rank].get_string().starts_with("#version")) continue;
    LOCKSTEP_ASSIGN_OR_RETURN(const auto pair, parse_pair(merges[rank], rank));
    merged.assign(pair.first).append(pair.second);
    const auto left = ids.find(pair.first);
    const auto right = ids.find(pair.second);
    const auto result = ids.find(merged);
    for (const auto& [found, piece] : {std::pair(left, pair.first), std::pair(right, pair.second),
                                       std::pair(result, std::string_view(merged))}) {
      if (found == ids.end()) {
        return bad_file("merge {} needs the piece {}, which model.vocab lacks", rank,
                        excerpt(piece));
      }
    }
    file.merges.push_back({left->second, right->second, result->second});
  }
  return {};
}

Status parse_model(const json::value& value, TokenizerFile& file, PieceIds& ids) {
  if (!value.is_object()) return bad_file("model is {}; an object is expected", excerpt(value));
  const json::object& model = value.get_object();
  const json::value& type = field(model, "type");
  if (!type.is_string() || type.get_string() != "BPE") {
    return unsupported("model.type is {}; only \"BPE\" is supported", excerpt(type));
  }
  LOCKSTEP_RETURN_IF_ERROR(check_known_keys(
      model, "model",
      {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
       "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}));
  // unk_token, fuse_unk and byte_fallback are for characters without a piece, and all 256 bytes
  // have one.
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const json::value& found = field(model, key);
    const bool neutral = found.is_null() || (found.is_string() && found.get_string().empty()) ||
                         (found.is_number() && found.to_number<double>() == 0);
    if (!neutral) return unsupported("model.{} is {}; only null is supported", key, excerpt(found));
  }
  const json::value& ignore_merges = field(model, "ignore_merges");
  if (!ignore_merges.is_null() && !ignore_merges.is_bool()) {
    return bad_file("model.ignore_merges is {}; true or false is expected", excerpt(ignore_merges));
  }
  file.ignore_merges = ignore_merges.is_bool() && ignore_merges.get_bool();
  LOCKSTEP_RETURN_IF_ERROR(parse_vocabulary(field(model, "vocab"), file, ids));
  return parse_merges(field(model, "merges"), ids, file);
}

Result<AddedToken> parse_added_token(const json::value& value, size_t index) {
  const std::string name = fmt::format("added_tokens[{}]", index);
  if (!value.is_object()) return bad_file("{} is {}; an object is expected", name, excerpt(value));
  const json::object& object = value.get_object();
  LOCKSTEP_RETURN_IF_ERROR(check_known_keys(
      object, name, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
  AddedToken token;
  const json::value& content = field(object, "content");
  if (!content.is_string() || content.get_string().empty() ||
      content.get_string().size() > kMaxAddedTokenBytes) {
    return bad_file("{}.content is {}; a string of 1 to {} bytes is expected", name,
                    excerpt(content), kMaxAddedTokenBytes);
  }
  token.content = content.get_string();
  token.id = parse_id(field(object, "id"));
  if (token.id < 0) return bad_id(name, field(object, "id"));
  for (const auto& [key, flag] :
       {std::pair("single_word", &token.single_word), std::pair("lstrip", &token.lstrip),
        std::pair("rstrip", &token.rstrip), std::pair("normalized", &token.normalized),
        std::pair("special", &token.special)}) {
    const json::value& found = field(object, key);
    if (!found.is_bool()) {
      return bad_file("{}.{} is {}; true or false is expected", name, key, excerpt(found));
    }
    *flag = found.get_bool();
  }
  return token;
}

Status parse_added_tokens(const json::value& value, const PieceIds& ids, TokenizerFile& file) {
  if (value.is_null()) return {};
  if (!value.is_array()) return bad_file("added_tokens is {}; a list is expected", excerpt(value));
  std::unordered_set<int32_t> known_ids;
  std::unordered_set<std::string_view> known_contents;
  file.added_tokens.reserve(value.get_array().size());
  for (const json::value& item : value.get_array()) {
    LOCKSTEP_ASSIGN_OR_RETURN(AddedToken token, parse_added_token(item, file.added_tokens.size()));
    const std::string quoted = excerpt(std::string_view(token.content));
    const auto piece = ids.find(token.content);
    if (piece != ids.end() && piece->second != token.id) {
      return bad_file("added token {} has the id {}, but model.vocab gives it {}", quoted, token.id,
                      piece->second);
    }
    const bool taken = piece == ids.end() && static_cast<size_t>(token.id) < file.pieces.size() &&
                       !file.pieces[token.id].empty();
    if (taken || !known_ids.insert(token.id).second) {
      return bad_file("added token {} has the id {} of another token", quoted, token.id);
    }
    file.added_tokens.push_back(std::move(token));
    if (!known_contents.insert(file.added_tokens.back().content).second) {
      return bad_file("added token {} is listed twice", quoted);
    }
  }
  return {};
}

Status parse_normalizer(const json::value& value, TokenizerFile& file) {
  if (value.is_null()) return {};
  const std::string_view type = type_of(value);
  if (type == "NFC") {
    file.nfc = true;
    return {};
  }
  if (type == "Sequence") {
    const json::value& parts = field(value.get_object(), "normalizers");
    if (!parts.is_array()) return bad_file("normalizer.normalizers is {}", excerpt(parts));
    for (const json::value& part : parts.get_array()) {
      LOCKSTEP_RETURN_IF_ERROR(parse_normalizer(part, file));
    }
    return {};
  }
  return unsupported("normalizer {} is not supported; NFC and none are", excerpt(type));
}

bool is_bool(const json::value& value, bool wanted) {
  return value.is_bool() && value.get_bool() == wanted;
}

Status parse_split(const json::value& value, TokenizerFile& file) {
  if (type_of(value) != "Split") {
    return unsupported("pre_tokenizer begins with {}; Split is expected", excerpt(type_of(value)));
  }
  const json::object& split = value.get_object();
  const json::value& behavior = field(split, "behavior");
  if (!behavior.is_string() || behavior.get_string() != "Isolated") {
    return unsupported("pre_tokenizer Split.behavior is {}; only \"Isolated\" is supported",
                       excerpt(behavior));
  }
  if (!is_bool(field(split, "invert"), false)) {
    return unsupported("pre_tokenizer Split.invert is {}; only false is supported",
                       excerpt(field(split, "invert")));
  }
  const json::value& pattern = field(split, "pattern");
  const json::value* regex =
      pattern.is_object() ? pattern.get_object().if_contains("Regex") : nullptr;
  if (regex == nullptr || !regex->is_string()) {
    return unsupported("pre_tokenizer Split.pattern holds no \"Regex\"");
  }
  file.pattern = regex->get_string();
  return {};
}

Status parse_pre_tokenizer(const json::value& value, TokenizerFile& file) {
  const json::value parts =
      type_of(value) == "Sequence" ? field(value.get_object(), "pretokenizers") : json::value();
  if (!parts.is_array() || parts.get_array().size() != 2) {
    return unsupported(
        "pre_tokenizer {} is not supported; a Sequence of Split and ByteLevel is expected",
        excerpt(type_of(value)));
  }
  LOCKSTEP_RETURN_IF_ERROR(parse_split(parts.get_array()[0], file));
  const json::value& byte_level = parts.get_array()[1];
  if (type_of(byte_level) != "ByteLevel") {
    return unsupported("pre_tokenizer ends with {}; ByteLevel is expected",
                       excerpt(type_of(byte_level)));
  }
  for (const char* key : {"add_prefix_space", "use_regex"}) {
    const json::value& found = field(byte_level.get_object(), key);
    if (!is_bool(found, false)) {
      return unsupported("pre_tokenizer ByteLevel.{} is {}; only false is supported", key,
                         excerpt(found));
    }
  }
  return {};
}

// The byte-level post-processor moves offsets only.
Status check_post_processor(const json::value& value) {
  if (value.is_null() || type_of(value) == "ByteLevel") return {};
  return unsupported("post_processor {} is not supported; it could add ids",
                     excerpt(type_of(value)));
}

Result<TokenizerFile> parse(const json::value& document) {
  if (!document.is_object()) return bad_file("an object is expected");
  const json::object& root = document.get_object();
  LOCKSTEP_RETURN_IF_ERROR(
      check_known_keys(root, "the file",
                       {"version", "truncation", "padding", "added_tokens", "normalizer",
                        "pre_tokenizer", "post_processor", "decoder", "model"}));
  for (const char* key : {"truncation", "padding"}) {
    if (!field(root, key).is_null()) {
      return unsupported("{} is {}; only null is supported", key, excerpt(field(root, key)));
    }
  }
  if (type_of(field(root, "decoder")) != "ByteLevel") {
    return unsupported("decoder {} is not supported; ByteLevel is",
                       excerpt(type_of(field(root, "decoder"))));
  }
  TokenizerFile file;
  PieceIds ids;
  LOCKSTEP_RETURN_IF_ERROR(check_post_processor(field(root, "post_processor")));
  LOCKSTEP_RETURN_IF_ERROR(parse_normalizer(field(root, "normalizer"), file));
  LOCKSTEP_RETURN_IF_ERROR(parse_pre_tokenizer(field(root, "pre_tokenizer"), file));
  LOCKSTEP_RETURN_IF_ERROR(parse_model(field(root, "model"), file, ids));
  LOCKSTEP_RETURN_IF_ERROR(parse_added_tokens(field(root, "added_tokens"), ids, file));
  return file;
}

}  // namespace

Result<TokenizerFile> parse_tokenizer_file(std::string_view text, std::string_view name) {
  LOCKSTEP_ASSIGN_OR_RETURN(const json::value document, parse_json(text, name));
  Result<TokenizerFile> file = parse(document);
  if (file.ok()) return file;
  return Error{file.error().code, fmt::format("{}: {}", name, file.error().message)};
}

}  // namespace lockstep
