#include "text/reply/stop_strings.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

struct Shown {
  std::string text;
  std::string hit;

  bool operator==(const Shown&) const = default;
};

Shown run(std::string_view text, const std::vector<std::string>& stops, size_t piece) {
  StopStrings filter(stops);
  Shown shown;
  for (size_t at = 0; at < text.size(); at += piece)
    shown.text += filter.push(text.substr(at, piece));
  shown.text += filter.finish();
  shown.hit = filter.hit().value_or("");
  return shown;
}

TEST(StopStrings, EndTheTextBeforeThemWhereverItIsCut) {
  const struct {
    const char* text;
    std::vector<std::string> stops;
    Shown want;
  } cases[] = {
      {"one STOP two STOP", {"STOP"}, {"one ", "STOP"}},
      {"aab", {"ab"}, {"a", "ab"}},
      {"abababc", {"ababc"}, {"ab", "ababc"}},
      {"no such thing", {"STOP", "ng!"}, {"no such thing", ""}},
      {"ends in ST", {"STOP"}, {"ends in ST", ""}},
      {"x\n\ny", {"\n\n", "y"}, {"x", "\n\n"}},
      {"text", {}, {"text", ""}},
      {"", {"a"}, {"", ""}},
      {"abc", {"bc", "b"}, {"a", "b"}},
      {"abcd", {"abcd", "bc"}, {"a", "bc"}},
      {"xabc", {"bc", "abc", "c"}, {"x", "abc"}},
  };
  for (const auto& c : cases) {
    for (size_t piece = 1; piece < 20; ++piece) {
      EXPECT_EQ(run(c.text, c.stops, piece).text, c.want.text) << c.text << ", " << piece;
      EXPECT_EQ(run(c.text, c.stops, piece).hit, c.want.hit) << c.text << ", " << piece;
    }
  }
}

TEST(StopStrings, NeverShowAPartOfAHit) {
  StopStrings filter({"STOP"});
  EXPECT_EQ(filter.push("a S"), "a ");
  EXPECT_EQ(filter.push("TO"), "");
  EXPECT_EQ(filter.push("X"), "STOX");
  EXPECT_EQ(filter.push("STOP and more"), "");
  EXPECT_EQ(filter.push("more"), "");
  EXPECT_EQ(filter.finish(), "");
}

}  // namespace
}  // namespace lockstep
