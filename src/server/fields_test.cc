#include "server/fields.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

json::object parse(const char* text) { return parse_json(text, "test").value().as_object(); }

// The error that reading every field of the text as its kind gives.
ApiStatus read(const char* text) {
  const json::object object = parse(text);
  Fields fields(object, "outer.");
  fields.boolean("flag");
  fields.integer("count", 0, 10);
  fields.number("share", 0.0, 1.0);
  fields.text("name");
  fields.texts("names", 2);
  fields.object("inner");
  fields.array("list");
  return fields.finish();
}

struct Case {
  const char* text;
  const char* message;
};

const Case kWrong[] = {
    {R"({"flag": 1})", "outer.flag must be true or false, not 1"},
    {R"({"count": 11})", "outer.count must be a whole number from 0 to 10, not 11"},
    {R"({"count": 1.5})", "outer.count must be a whole number from 0 to 10, not 1.5"},
    {R"({"count": 1e300})", "outer.count must be a whole number from 0 to 10, not 1e+300"},
    {R"({"count": 18446744073709551615})",
     "outer.count must be a whole number from 0 to 10, not 18446744073709551615"},
    {R"({"count": true})", "outer.count must be a whole number from 0 to 10, not true"},
    {R"({"share": -0.1})", "outer.share must be a number from 0 to 1, not -0.1"},
    {R"({"share": "1"})", "outer.share must be a number from 0 to 1, not \"1\""},
    {R"({"name": ["a"]})", "outer.name must be a text, not a list"},
    {R"({"names": ["a", "b", "c"]})",
     "outer.names must be a text or a list of up to 2 texts, not a list"},
    {R"({"names": ["a", 1]})", "outer.names must be a text or a list of up to 2 texts, not a list"},
    {R"({"inner": []})", "outer.inner must be an object, not a list"},
    {R"({"list": {}})", "outer.list must be a list, not an object"},
    {R"({"other": 1})", "outer.other is not a field that this server knows"},
};

TEST(Fields, NamesTheFirstThingThatIsWrong) {
  for (const Case& c : kWrong) {
    const ApiStatus error = read(c.text);
    ASSERT_TRUE(error.has_value()) << c.text;
    EXPECT_EQ(error->message, c.message);
    EXPECT_EQ(error->status, 400);
    EXPECT_TRUE(error->param.starts_with("outer.")) << error->param;
  }
}

TEST(Fields, TakesWhatIsRightAndNullAsAbsent) {
  EXPECT_FALSE(read(R"({"flag": true, "count": 10.0, "share": 1, "name": "", "names": "a",
                        "inner": {}, "list": []})")
                   .has_value());
  EXPECT_FALSE(read(R"({"flag": null, "count": null, "share": null, "name": null, "names": null,
                        "inner": null, "list": null})")
                   .has_value());
}

TEST(Fields, ALongValueIsNotShown) {
  const ApiStatus error = read((R"({"count": ")" + std::string(1000, 'x') + "\"}").c_str());
  EXPECT_LT(error->message.size(), 120u);
}

}  // namespace
}  // namespace lockstep
