// Equality with Python's jinja2, set up as transformers does: the cases and what Python made of
// them are in template_cases.json, written by python/make_template_cases.py.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/json.h"
#include "text/jinja/template.h"

namespace lockstep::jinja {
namespace {

json::object load_cases() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/src/text/jinja/template_cases.json", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto value = parse_json(text, "template_cases.json");
  EXPECT_TRUE(value.ok()) << value.error().message;
  return value.ok() ? value.value().as_object() : json::object();
}

const json::object& cases() {
  static const json::object loaded = load_cases();
  return loaded;
}

// A template's source, or its name in the file.
std::string source_of(const json::value& entry) {
  if (entry.is_string()) return std::string(entry.as_string());
  const auto& name = entry.as_object().at("source").as_string();
  return std::string(cases().at("templates").as_object().at(name).as_string());
}

Variables variables_of(const json::value& entry) {
  const json::object& variables =
      entry.is_string() ? cases().at("contexts").as_object().at(entry.as_string()).as_object()
                        : entry.as_object();
  Variables result;
  for (const auto& item : variables) result.emplace_back(item.key(), item.value());
  return result;
}

Result<std::string> render(const std::string& source, const Variables& variables) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto parsed, Template::parse(source, "case"));
  return parsed.render(variables);
}

// Each case is [template, variables, output]; the output is null where Python raises.
void check_group(const char* group, size_t at_least) {
  size_t failures = 0;
  const json::array& list = cases().at(group).as_array();
  EXPECT_GE(list.size(), at_least);
  for (const json::value& entry : list) {
    const json::array& parts = entry.as_array();
    const std::string source = source_of(parts[0]);
    const auto result = render(source, variables_of(parts[1]));
    const bool same = parts[2].is_null()
                          ? !result.ok()
                          : result.ok() && result.value() == std::string(parts[2].as_string());
    if (same) continue;
    if (++failures > 20) continue;
    ADD_FAILURE() << "template: " << dump_json(parts[0]) << "\nvariables: " << dump_json(parts[1])
                  << "\npython: " << dump_json(parts[2]) << "\nours:   "
                  << (result.ok() ? quote_json(result.value())
                                  : "error: " + result.error().message);
  }
  EXPECT_EQ(failures, 0U) << "of " << list.size();
}

TEST(TemplateCases, SmallTemplatesEqualJinja) { check_group("small", 300); }
TEST(TemplateCases, RandomTemplatesEqualJinja) { check_group("random", 2000); }
TEST(TemplateCases, ChatTemplatesEqualJinja) { check_group("chats", 100); }

}  // namespace
}  // namespace lockstep::jinja
