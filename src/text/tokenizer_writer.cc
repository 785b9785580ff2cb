#include "text/tokenizer_writer.h"

#include <cstddef>

#include "base/json.h"

namespace lockstep {
namespace {

json::array added_tokens(const TokenizerFile& file) {
  json::array tokens;
  for (const AddedToken& token : file.added_tokens) {
    tokens.push_back(json::object{{"id", token.id},
                                  {"content", token.content},
                                  {"single_word", token.single_word},
                                  {"lstrip", token.lstrip},
                                  {"rstrip", token.rstrip},
                                  {"normalized", token.normalized},
                                  {"special", token.special}});
  }
  return tokens;
}

// Words by the pattern, then their bytes in the printable alphabet.
json::object pre_tokenizer(const TokenizerFile& file) {
  const json::object split = {{"type", "Split"},
                              {"pattern", json::object{{"Regex", file.pattern}}},
                              {"behavior", "Isolated"},
                              {"invert", false}};
  const json::object bytes = {{"type", "ByteLevel"},
                              {"add_prefix_space", false},
                              {"trim_offsets", false},
                              {"use_regex", false}};
  return {{"type", "Sequence"}, {"pretokenizers", json::array{split, bytes}}};
}

json::object model(const TokenizerFile& file) {
  json::object vocab;
  for (size_t id = 0; id < file.pieces.size(); ++id) {
    if (!file.pieces[id].empty()) vocab[file.pieces[id]] = id;
  }
  json::array merges;
  for (const Merge& merge : file.merges) {
    merges.push_back(json::array{json::string(file.pieces[static_cast<size_t>(merge.left)]),
                                 json::string(file.pieces[static_cast<size_t>(merge.right)])});
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", file.ignore_merges},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

}  // namespace

std::string tokenizer_json(const TokenizerFile& file) {
  json::object root = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added_tokens(file)},
      {"normalizer", file.nfc ? json::value(json::object{{"type", "NFC"}}) : json::value()},
      {"pre_tokenizer", pre_tokenizer(file)},
      {"post_processor", nullptr},
      {"decoder", json::object{{"type", "ByteLevel"},
                               {"add_prefix_space", false},
                               {"trim_offsets", false},
                               {"use_regex", false}}},
      {"model", model(file)}};
  return dump_json(root, 1);
}

}  // namespace lockstep
