// Templates that would never end, or take all memory, end with one sentence that names the line.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "text/jinja/template.h"

namespace lockstep::jinja {
namespace {

Error error_of(const std::string& source, const Limits& limits = {},
               const Variables& variables = {}) {
  const auto parsed = Template::parse(source, "t.jinja", limits);
  if (!parsed.ok()) return parsed.error();
  const auto result = parsed.value().render(variables);
  EXPECT_FALSE(result.ok()) << source.substr(0, 200);
  return result.ok() ? Error{} : result.error();
}

std::string repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

void expect_limit(const std::string& source, const std::string& place) {
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of(source);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(error.code, ErrorCode::kOutOfMemory) << source.substr(0, 200) << "\n" << error.message;
  EXPECT_EQ(error.message.rfind("t.jinja, " + place + ": ", 0), 0U) << error.message;
  EXPECT_LT(took.count(), 60.0) << source.substr(0, 200);
}

TEST(TemplateLimits, LoopsEnd) {
  expect_limit("{% for a in range(10**9) %}x{% endfor %}", "line 1");
  expect_limit(
      "\n{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a * b %}{% endfor %}"
      "{% endfor %}",
      "line 2");
  expect_limit(
      "{% set ns = namespace(s='x') %}\n{% for a in range(99999) %}\n{% set ns.s = ns.s + ns.s %}"
      "{% endfor %}",
      "line 3");
}

TEST(TemplateLimits, LongTextsAreRefusedBeforeTheyAreMade) {
  for (const char* expression :
       {"'x' * 10**12", "('x' * 10**6).replace('x', 'y' * 10**6)", "'a'.center(10**12)",
        "'a'.ljust(10**11, 'é')", "'%999999999999d' % 3", "['x'] * 10**12", "(1, 2) * 10**11",
        "'x\\n' | indent(10**12)", "[1] | tojson(indent=10**12)", "'7'.zfill(10**12)",
        "('x' * 10**6).join('y' * 10**5)", "range(10**5) | join('x' * 10**5)",
        "['x' * 10**8] * 100", "['xy' * 10**7] * 100", "'x' | center(10**15)",
        "['x'] | batch(10**12, 'y') | list", "['x'] | slice(10**12) | list",
        "'%*d' % (10**10, 1)"}) {
    expect_limit("{{ " + std::string(expression) + " }}", "line 1");
  }
}

TEST(TemplateLimits, SharedPartsDoNotMultiply) {
  const std::string grow =
      "{% set ns = namespace(v=[1]) %}{% for i in range(60) %}{% set ns.v = [ns.v, ns.v] %}"
      "{% endfor %}\n";
  for (const char* use : {"{{ ns.v }}", "{{ ns.v | tojson }}",
                          "{{ ns.v == ns.v[0] + [1] or "
                          "ns.v == [ns.v[0], [ns.v[0][0], ns.v[0][0]]] }}"}) {
    const Error error = error_of(grow + use + "{{ raise_exception('end') }}");
    EXPECT_NE(error.message.find("line 2"), std::string::npos) << error.message;
  }
}

TEST(TemplateLimits, RecursionEnds) {
  expect_limit("{% macro m() %}\n{{ m() }}{% endmacro %}{{ m() }}", "line 2");
  expect_limit("{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", "line 1");
  expect_limit(
      "{% set ns = namespace(v=[]) %}{% for i in range(9999) %}{% set ns.v = [ns.v] %}{% endfor %}",
      "line 1");
  expect_limit(
      "{% set ns = namespace(v=[]) %}{% for i in range(9999) %}{% set ns.v = ns.v | map('upper') %}"
      "{% endfor %}",
      "line 1");
  expect_limit("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "line 1");
}

TEST(TemplateLimits, DeepSourcesAreRefused) {
  const int n = 100'000;
  expect_limit("\n{{ " + repeat("(", n) + "1" + repeat(")", n) + " }}", "line 2");
  expect_limit("{{ " + repeat("[", n), "line 1");
  expect_limit("{{ " + repeat("- ", n) + "1 }}", "line 1");
  expect_limit("{{ " + repeat("not ", n) + "1 }}", "line 1");
  expect_limit("{{ 1" + repeat(" + 1", n) + " }}", "line 1");
  expect_limit("{{ a" + repeat(".b", n) + " }}", "line 1");
  expect_limit("{{ a" + repeat("|d", n) + " }}", "line 1");
  expect_limit("{{ a" + repeat(" if 1 else a", n / 2) + " }}", "line 1");
  expect_limit(repeat("{% if 1 %}", n), "line 1");
  expect_limit("{% for " + repeat("(", n), "line 1");
  expect_limit(std::string(2 << 20, 'x'), "line 1");
}

TEST(TemplateLimits, LongSourcesAreReadInLinearTime) {
  const int n = 200'000;
  for (const std::string& source :
       {"{% raw %}" + repeat("{% x", n), repeat("{# ", n), "{% raw %}" + repeat("{%  ", n),
        repeat("  ", n) + "{%", "{{ '" + repeat("\\x41", n)}) {
    EXPECT_FALSE(Template::parse(source, "t").ok());
  }
  EXPECT_TRUE(Template::parse(repeat("{{a}}", n), "t").ok());
}

TEST(TemplateLimits, OwnLimitsHold) {
  Limits limits;
  limits.steps = 100;
  EXPECT_EQ(error_of("{% for i in range(200) %}{% endfor %}", limits).code,
            ErrorCode::kOutOfMemory);
  limits = {};
  limits.output_bytes = 10;
  EXPECT_EQ(error_of("12345678901", limits).code, ErrorCode::kOutOfMemory);
  EXPECT_TRUE(Template::parse("1234567890", "t", limits).value().render({}).ok());
}

TEST(TemplateErrors, CarryKindAndLine) {
  const auto message = [](const std::string& source) { return error_of(source).message; };
  EXPECT_EQ(message("a\n\n{{ raise_exception('no ' ~ 'user') }}"),
            "t.jinja, line 3: the template refuses this conversation: no user");
  EXPECT_EQ(message("a\n{{ x.y }}"), "t.jinja, line 2: 'x' is undefined");
  EXPECT_EQ(message("{% if 1 %}\n\n"),
            "t.jinja, line 2: the block 'if' that begins on line 1 has no 'endif'");
  EXPECT_EQ(message("\n{% include 'x' %}"), "t.jinja, line 2: the tag 'include' is not supported");
  EXPECT_EQ(error_of("{% include 'x' %}").code, ErrorCode::kUnsupported);
  EXPECT_EQ(error_of("{{ 1 + }}").code, ErrorCode::kBadFile);
  EXPECT_EQ(error_of("\xFF").code, ErrorCode::kBadFile);
  EXPECT_EQ(error_of("{{ 9223372036854775807 + 1 }}").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("{{ x }}", {}, {{"x", "\xFF"}}).code, ErrorCode::kInvalidArgument);
}

TEST(TemplateErrors, TheClockIsTheCallers) {
  const auto parsed = Template::parse("{{ strftime_now('%Y-%m-%d') }}", "t");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().render({}).error().code, ErrorCode::kUnsupported);
  std::tm now = {};
  now.tm_year = 126;
  now.tm_mon = 10;
  now.tm_mday = 30;
  EXPECT_EQ(parsed.value().render({}, now).value(), "2026-11-30");
}

}  // namespace
}  // namespace lockstep::jinja
