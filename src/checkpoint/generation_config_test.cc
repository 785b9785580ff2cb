#include "checkpoint/generation_config.h"

#include <gtest/gtest.h>

#include "checkpoint/testing/opened.h"

namespace lockstep {
namespace {

Result<GenerationConfig> read(const char* text) {
  const json::value root = parse_json(text, "test").value();
  return read_generation_config(root, "generation_config.json");
}

TEST(GenerationConfig, ReadsWhatIsThereAndLeavesTheRestAbsent) {
  const GenerationConfig config = read(R"({"bos_token_id": 1, "do_sample": true,
      "eos_token_id": [9, 4, 9], "temperature": 1.0, "top_k": 20, "top_p": 0.95, "min_p": null})")
                                      .value();
  EXPECT_EQ(config.do_sample, true);
  EXPECT_EQ(config.temperature, 1.0);
  EXPECT_EQ(config.top_k, 20);
  EXPECT_EQ(config.top_p, 0.95);
  EXPECT_FALSE(config.min_p);
  EXPECT_FALSE(config.repetition_penalty);
  EXPECT_EQ(config.eos_ids, (std::vector<int32_t>{4, 9}));
  const GenerationConfig empty = read("{}").value();
  EXPECT_FALSE(empty.do_sample);
  EXPECT_TRUE(empty.eos_ids.empty());
  EXPECT_EQ(read(R"({"temperature": 0})").value().temperature, 0.0);
}

TEST(GenerationConfig, RefusesByField) {
  const struct {
    const char* field;
    std::vector<const char*> bad;
  } cases[] = {
      {"do_sample", {"1", "\"true\""}},
      {"temperature", {"-0.1", "101", "\"1\"", "true", "[1]"}},
      {"top_k", {"-1", "20.0", "\"20\"", "2147483648"}},
      {"top_p", {"0", "1.01", "-1", "{}"}},
      {"min_p", {"-0.1", "1.1"}},
      {"repetition_penalty", {"0", "-1", "1000"}},
      {"presence_penalty", {"\"0\"", "1e9"}},
      {"frequency_penalty", {"false", "-1e9"}},
      {"eos_token_id", {"-1", "\"9\"", "[1.5]", "{}", "18446744073709551615"}},
  };
  for (const auto& item : cases) {
    for (const char* bad : item.bad) {
      const std::string text = std::string("{\"") + item.field + "\": " + bad + "}";
      expect_error(read(text.c_str()), ErrorCode::kBadFile,
                   std::string("generation_config.json: ") + item.field + ": found");
    }
  }
  expect_error(read("[]"), ErrorCode::kBadFile, "expected an object");
}

}  // namespace
}  // namespace lockstep
