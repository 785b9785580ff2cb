#include "text/tokenizer_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "text/tokenizer.h"
#include "text/tokenizers_for_test.h"

namespace lockstep {
namespace {

Result<TokenizerFile> parse(const json::object& document) {
  return parse_tokenizer_file(dump_json(document), "t.json");
}

TEST(TokenizerFile, ReadsMergesAsStringsAndAsPairs) {
  const TokenizerFile file = parse(small_tokenizer()).value();
  EXPECT_EQ(file.pieces.size(), 259u);
  ASSERT_EQ(file.merges.size(), 3u);
  EXPECT_EQ(file.merges[0].merged, 256);
  EXPECT_EQ(file.merges[1].left, 256);
  EXPECT_EQ(file.merges[1].right, 'c');
  EXPECT_EQ(file.merges[2].merged, 258);
  EXPECT_TRUE(file.nfc);
  EXPECT_EQ(file.pattern, kFamilyPattern);
}

TEST(TokenizerFile, AcceptsWhatChangesNoIds) {
  json::object document = small_tokenizer();
  document["post_processor"] = json::object{{"type", "ByteLevel"}, {"trim_offsets", false}};
  document["normalizer"] =
      json::object{{"type", "Sequence"}, {"normalizers", json::array{document["normalizer"]}}};
  json::object& model = document["model"].as_object();
  model["unk_token"] = "a";
  model["dropout"] = nullptr;
  model["end_of_word_suffix"] = "";
  model["vocab"].as_object()["a piece outside the alphabet"] = 300;
  model["merges"].as_array().insert(model["merges"].as_array().begin(), "#version: 0.2");
  const Result<TokenizerFile> file = parse(document);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file.value().pieces.size(), 301u);
  EXPECT_EQ(file.value().merges.size(), 3u);
  document["normalizer"] = nullptr;
  EXPECT_FALSE(parse(document).value().nfc);
}

struct Refusal {
  std::string named;  // what the message must name
  std::function<void(json::object&)> alter;
};

json::object& model(json::object& document) { return document["model"].as_object(); }
json::object& vocab(json::object& document) { return model(document)["vocab"].as_object(); }
json::array& merges(json::object& document) { return model(document)["merges"].as_array(); }
json::array& added(json::object& document) { return document["added_tokens"].as_array(); }
json::object& pre_tokenizer(json::object& document, int part) {
  return document["pre_tokenizer"].as_object()["pretokenizers"].as_array()[part].as_object();
}

TEST(TokenizerFile, RefusesByName) {
  const std::vector<Refusal> refusals = {
      {"\"extra\"", [](auto& d) { d["extra"] = 1; }},
      {"truncation", [](auto& d) { d["truncation"] = json::object{{"max_length", 5}}; }},
      {"padding", [](auto& d) { d["padding"] = json::object(); }},
      {"decoder", [](auto& d) { d["decoder"] = nullptr; }},
      {"\"NFKC\"", [](auto& d) { d["normalizer"].as_object()["type"] = "NFKC"; }},
      {"\"TemplateProcessing\"",
       [](auto& d) { d["post_processor"] = json::object{{"type", "TemplateProcessing"}}; }},
      {"pre_tokenizer", [](auto& d) { d["pre_tokenizer"] = nullptr; }},
      {"pre_tokenizer", [](auto& d) { d["pre_tokenizer"] = json::object{{"type", "Digits"}}; }},
      {"\"Removed\"", [](auto& d) { pre_tokenizer(d, 0)["behavior"] = "Removed"; }},
      {"invert", [](auto& d) { pre_tokenizer(d, 0)["invert"] = true; }},
      {"pattern", [](auto& d) { pre_tokenizer(d, 0)["pattern"] = json::object{{"String", " "}}; }},
      {"add_prefix_space", [](auto& d) { pre_tokenizer(d, 1)["add_prefix_space"] = true; }},
      {"use_regex", [](auto& d) { pre_tokenizer(d, 1).erase("use_regex"); }},
      {"\"WordPiece\"", [](auto& d) { model(d)["type"] = "WordPiece"; }},
      {"model.dropout", [](auto& d) { model(d)["dropout"] = 0.1; }},
      {"continuing_subword_prefix", [](auto& d) { model(d)["continuing_subword_prefix"] = "##"; }},
      {"\"cache\"", [](auto& d) { model(d)["cache"] = 1; }},
      {"ignore_merges", [](auto& d) { model(d)["ignore_merges"] = "yes"; }},
      {"model.vocab", [](auto& d) { model(d)["vocab"] = json::array(); }},
      {"model.vocab", [](auto& d) { model(d).erase("vocab"); }},
      {"empty piece", [](auto& d) { vocab(d)[""] = 300; }},
      {"\"zz\"", [](auto& d) { vocab(d)["zz"] = -1; }},
      {"\"zz\"", [](auto& d) { vocab(d)["zz"] = 1 << 22; }},
      {"\"zz\"", [](auto& d) { vocab(d)["zz"] = 1e3; }},
      {"\"zz\"", [](auto& d) { vocab(d)["zz"] = "7"; }},
      {"same id 257", [](auto& d) { vocab(d)["zz"] = 257; }},
      {"model.merges", [](auto& d) { model(d)["merges"] = nullptr; }},
      {"merge 3", [](auto& d) { merges(d).push_back("a b c"); }},
      {"merge 3", [](auto& d) { merges(d).push_back("ab"); }},
      {"merge 3", [](auto& d) { merges(d).push_back(json::array{"a"}); }},
      {"merge 3", [](auto& d) { merges(d).push_back(json::array{"a", 1}); }},
      {"\"zz\"", [](auto& d) { merges(d).push_back("a zz"); }},
      {"\"aa\"", [](auto& d) { merges(d).push_back("a a"); }},
      {"\"\"", [](auto& d) { merges(d).push_back(" a"); }},
      {"added_tokens", [](auto& d) { d["added_tokens"] = 5; }},
      {"added_tokens[0]", [](auto& d) { added(d).push_back(nullptr); }},
      {"content", [](auto& d) { added(d).push_back(added_token(300, "")); }},
      {"content", [](auto& d) { added(d).push_back(added_token(300, std::string(513, 'x'))); }},
      {"added_tokens[0]", [](auto& d) { added(d).push_back(added_token(1 << 22, "x")); }},
      {"of another token", [](auto& d) { added(d).push_back(added_token(257, "<x>")); }},
      {"model.vocab gives it 256", [](auto& d) { added(d).push_back(added_token(300, "ab")); }},
      {"listed twice",
       [](auto& d) { added(d) = {added_token(300, "x>"), added_token(301, "x>")}; }},
      {"id 300", [](auto& d) { added(d) = {added_token(300, "x>"), added_token(300, "y>")}; }},
      {"lstrip",
       [](auto& d) { (added(d) = {added_token(300, "x>")})[0].as_object().erase("lstrip"); }},
      {"\"odd\"", [](auto& d) { (added(d) = {added_token(300, "x>")})[0].as_object()["odd"] = 1; }},
  };
  for (const Refusal& refusal : refusals) {
    json::object document = small_tokenizer();
    refusal.alter(document);
    const Result<TokenizerFile> file = parse(document);
    ASSERT_FALSE(file.ok()) << refusal.named;
    EXPECT_NE(file.error().message.find(refusal.named), std::string::npos)
        << refusal.named << " is not in: " << file.error().message;
    EXPECT_TRUE(file.error().message.starts_with("t.json: ")) << file.error().message;
  }
}

TEST(TokenizerFile, RefusesAVocabularyWithoutAllBytes) {
  json::object document = small_tokenizer();
  vocab(document).erase("!");
  const Result<Tokenizer> tokenizer = Tokenizer::parse(dump_json(document), "t.json");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().message,
            "t.json: model.vocab has no piece for byte 0x21; all 256 are needed");
}

TEST(TokenizerFile, RefusesAPatternThatItCannotFollow) {
  json::object document = small_tokenizer();
  pre_tokenizer(document, 0)["pattern"] = json::object{{"Regex", "a\\w+"}};
  const Result<Tokenizer> tokenizer = Tokenizer::parse(dump_json(document), "t.json");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_TRUE(tokenizer.error().message.starts_with("t.json: ")) << tokenizer.error().message;
}

// Each either parses or is refused; the sanitizers watch.
TEST(TokenizerFile, SurvivesCutsAndChangedBytes) {
  const std::string text = dump_json(small_tokenizer());
  std::mt19937 random(7);
  int accepted = 0;
  for (int round = 0; round < 600; ++round) {
    std::string damaged = text;
    if (round % 3 == 0) {
      damaged.resize(random() % text.size());
    } else {
      for (uint32_t left = random() % 3 + 1; left > 0; --left) {
        damaged[random() % damaged.size()] = "0919\"[]{},:ab "[random() % 14];
      }
    }
    accepted += Tokenizer::parse(damaged, "t.json").ok() ? 1 : 0;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 600);
}

TEST(TokenizerFile, NamesFilesThatCannotBeRead) {
  const std::filesystem::path missing = "/no/such/tokenizer.json";
  EXPECT_EQ(load_tokenizer(missing).error().code, ErrorCode::kIo);
  EXPECT_NE(load_tokenizer(missing).error().message.find(missing.string()), std::string::npos);
  EXPECT_FALSE(load_tokenizer(std::filesystem::temp_directory_path()).ok());
}

}  // namespace
}  // namespace lockstep
