#include "text/token_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "base/json.h"
#include "text/merge_table.h"
#include "text/utf8.h"
#include "text/word_splitter.h"

namespace lockstep {
namespace {

enum TokenType : int64_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

constexpr std::string_view kControlButText[] = {"<|fim_prefix|>", "<|fim_middle|>",
                                                "<|fim_suffix|>", "<|fim_pad|>",
                                                "<|repo_name|>",  "<|file_sep|>"};

using PieceIds = std::unordered_map<std::string_view, int32_t>;

bool is_special(int64_t type, std::string_view content) {
  return type == kControl && std::find(std::begin(kControlButText), std::end(kControlButText),
                                       content) == std::end(kControlButText);
}

Error bad(const std::string& fault) { return {ErrorCode::kBadFile, fault}; }

std::string excerpt(std::string_view text) { return quote_json(std::string(text.substr(0, 64))); }

Status check_kind(const TokenList& list) {
  if (list.model != "gpt2") {
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("the tokenizer's model is {}; \"gpt2\" is expected", excerpt(list.model))};
  }
  if (list.pre != "qwen35") {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("the pre-tokenizer is {}; \"qwen35\" is expected, because another one "
                             "cuts words elsewhere",
                             excerpt(list.pre))};
  }
  if (list.add_bos) {
    return Error{ErrorCode::kUnsupported,
                 "the tokenizer puts a token before every text (add_bos_token); this family's does "
                 "not"};
  }
  if (list.tokens.size() > static_cast<size_t>(MergeTable::kMaxTokens) ||
      list.merges.size() > MergeTable::kMaxMerges) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("found {} tokens and {} merges; at most {} and {} are supported",
                             list.tokens.size(), list.merges.size(), MergeTable::kMaxTokens,
                             MergeTable::kMaxMerges)};
  }
  if (list.types.size() == list.tokens.size()) return {};
  return bad(fmt::format("found {} types for {} tokens", list.types.size(), list.tokens.size()));
}

Status add_tokens(const TokenList& list, TokenizerFile& out, PieceIds& ids) {
  std::set<std::string_view> added;
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    const std::string_view token = list.tokens[i];
    const int64_t type = list.types[i];
    if (type == kUnused) continue;
    if (token.empty() || !is_valid_utf8(token)) {
      return bad(fmt::format("token {} is {}", id, token.empty() ? "empty" : "not valid UTF-8"));
    }
    if (type == kNormal) {
      out.pieces.resize(i + 1);
      out.pieces[i] = token;
      if (!ids.emplace(token, id).second) {
        return bad(fmt::format("token {} is {}, as an earlier one", id, excerpt(token)));
      }
    } else if (type == kControl || type == kUserDefined) {
      if (!added.insert(token).second) {
        return bad(fmt::format("added token {} is {}, as an earlier one", id, excerpt(token)));
      }
      out.added_tokens.push_back(
          {.content = std::string(token), .id = id, .special = is_special(type, token)});
    } else {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("token {} has type {}; 1, 3, 4 and 5 are supported", id, type)};
    }
  }
  if (!out.pieces.empty()) return {};
  return bad("the vocabulary has no normal token");
}

Status add_merges(const TokenList& list, const PieceIds& ids, TokenizerFile& out) {
  std::string merged;
  out.merges.reserve(list.merges.size());
  for (size_t rank = 0; rank < list.merges.size(); ++rank) {
    const std::string_view both = list.merges[rank];
    const size_t space = both.find(' ');
    if (space == both.npos || both.find(' ', space + 1) != both.npos) {
      return bad(fmt::format("merge {} is {}; \"a b\" is expected", rank, excerpt(both)));
    }
    merged.assign(both.substr(0, space)).append(both.substr(space + 1));
    Merge merge{};
    const std::pair<std::string_view, int32_t*> parts[] = {{both.substr(0, space), &merge.left},
                                                           {both.substr(space + 1), &merge.right},
                                                           {merged, &merge.merged}};
    for (const auto& [piece, id] : parts) {
      const auto found = ids.find(piece);
      if (found == ids.end()) {
        return bad(
            fmt::format("merge {} needs the token {}, which is not there", rank, excerpt(piece)));
      }
      *id = found->second;
    }
    out.merges.push_back(merge);
  }
  return {};
}

Result<TokenizerFile> read(const TokenList& list) {
  LOCKSTEP_RETURN_IF_ERROR(check_kind(list));
  TokenizerFile out;
  PieceIds ids;
  ids.reserve(list.tokens.size());
  LOCKSTEP_RETURN_IF_ERROR(add_tokens(list, out, ids));
  LOCKSTEP_RETURN_IF_ERROR(add_merges(list, ids, out));
  out.nfc = true;
  out.pattern = kFamilyPattern;
  return out;
}

Status check_sayable(const TokenizerFile& file) {
  const auto refuse = [](const std::string& what) {
    return Error{ErrorCode::kUnsupported, fmt::format("{}, which GGUF cannot say", what)};
  };
  if (file.pattern != kFamilyPattern) return refuse("it cuts words by a pattern of its own");
  if (!file.nfc) return refuse("it does not normalise to NFC");
  if (file.ignore_merges) return refuse("it ignores merges where a word is a piece");
  for (const AddedToken& token : file.added_tokens) {
    if (token.lstrip || token.rstrip || token.single_word) {
      return refuse(
          fmt::format("its token {} looks at the text around it", excerpt(token.content)));
    }
  }
  return {};
}

// As llama.cpp's converter types them; read_token_list knows which control tokens are text.
int64_t type_of(const AddedToken& token) {
  const bool bars = token.content.starts_with("<|") && token.content.ends_with("|>");
  return token.special || bars ? kControl : kUserDefined;
}

Result<TokenListTexts> make(const TokenizerFile& file, int64_t rows) {
  LOCKSTEP_RETURN_IF_ERROR(check_sayable(file));
  TokenListTexts out;
  const auto count = static_cast<size_t>(rows);
  out.tokens.resize(count);
  out.types.assign(count, kUnused);
  if (file.pieces.size() > count) {
    return bad(fmt::format("found {} tokens, the model has {}", file.pieces.size(), rows));
  }
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    out.tokens[i] = file.pieces[i];
    if (!file.pieces[i].empty()) out.types[i] = kNormal;
  }
  for (const AddedToken& token : file.added_tokens) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= count) {
      return bad(fmt::format("token {} has the id {}, the model has {}", excerpt(token.content),
                             token.id, rows));
    }
    out.tokens[id] = token.content;
    out.types[id] = type_of(token);
    if (token.special != is_special(out.types[id], token.content)) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the added token {} is {}special, which GGUF cannot say",
                               excerpt(token.content), token.special ? "" : "not ")};
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (out.types[i] == kUnused) out.tokens[i] = fmt::format("[PAD{}]", i);
  }
  for (const Merge& merge : file.merges) {
    out.merges.push_back(file.pieces[static_cast<size_t>(merge.left)] + ' ' +
                         file.pieces[static_cast<size_t>(merge.right)]);
  }
  return out;
}

}  // namespace

Result<TokenListTexts> make_token_list(const TokenizerFile& file, int64_t rows,
                                       std::string_view name) {
  Result<TokenListTexts> texts = make(file, rows);
  if (texts.ok()) return texts;
  return Error{texts.error().code, fmt::format("{}: tokenizer: {}", name, texts.error().message)};
}

Result<TokenizerFile> read_token_list(const TokenList& list, std::string_view name) {
  Result<TokenizerFile> file = read(list);
  if (file.ok()) return file;
  return Error{file.error().code, fmt::format("{}: tokenizer: {}", name, file.error().message)};
}

}  // namespace lockstep
