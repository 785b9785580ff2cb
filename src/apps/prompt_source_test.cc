#include "apps/prompt_source.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(PromptText, BrokenUtf8IsRefusedWithItsOffset) {
  EXPECT_TRUE(check_prompt_text("", "p").ok());
  EXPECT_TRUE(check_prompt_text("h\xc3\xa9 \xf0\x9f\x98\x80", "p").ok());
  const Status status = check_prompt_text("abc\xff", "the prompt");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "the prompt is not valid UTF-8: the byte 0xff at offset 3 begins no character");
  EXPECT_FALSE(check_prompt_text("abc\xe2\x82", "p").ok());
}

TEST(Ids, AreNumbersApartByAnythingUsual) {
  EXPECT_EQ(parse_ids("1 2,3\r\n2147483647", "f").value(),
            (std::vector<int32_t>{1, 2, 3, 2147483647}));
  EXPECT_EQ(parse_ids(" [4, 5]\n", "f").value(), (std::vector<int32_t>{4, 5}));
}

TEST(Ids, AnythingElseIsRefusedWithItsPlace) {
  for (const char* text :
       {"1 -2", "1 2x", "1 2.5", "1 2147483648", "1 99999999999999999999", "1 a"}) {
    const auto ids = parse_ids(text, "f");
    ASSERT_FALSE(ids.ok()) << text;
    EXPECT_TRUE(ids.error().message.starts_with("f: entry 1 at offset 2 is not a token id"))
        << ids.error().message;
  }
  EXPECT_EQ(parse_ids("[1 a]", "f").error().message,
            "f: entry 1 at offset 3 is not a token id: it must be a number from 0 to 2147483647");
  EXPECT_FALSE(parse_ids("1]2[3", "f").ok());
  EXPECT_EQ(parse_ids("[1, 2", "f").error().message,
            "f begins a list with [ and does not end it with ]");
  EXPECT_FALSE(parse_ids("[", "f").ok());
  for (const char* text : {"", "  \n", "[]"}) {
    ASSERT_FALSE(parse_ids(text, "f").ok());
    EXPECT_EQ(parse_ids(text, "f").error().message, "f holds no token ids");
  }
}

TEST(PromptFile, MissingFilesAndFoldersAreErrors) {
  EXPECT_FALSE(read_prompt_file("/no/such/file").ok());
  EXPECT_FALSE(read_prompt_file(LOCKSTEP_SOURCE_DIR).ok());
  EXPECT_FALSE(read_ids_file("/no/such/file").ok());
}

}  // namespace
}  // namespace lockstep
