// libFuzzer target: any bytes as a template, rendered with a small conversation.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/jinja/template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lockstep;  // NOLINT: one function
  static const json::value kMessages =
      parse_json(
          R"([{"role":"user","content":"h\u00e9 <b>"},{"role":"assistant","content":null,
          "tool_calls":[{"function":{"name":"f","arguments":{"a":[1,2.5,true,null]}}}]}])",
          "messages")
          .value();
  jinja::Limits limits;
  limits.steps = 20'000;
  limits.work_bytes = 1 << 22;
  limits.output_bytes = 1 << 16;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = jinja::Template::parse(source, "fuzz", limits);
  if (!parsed.ok()) return 0;
  const auto text = parsed.value().render(
      {{"messages", kMessages}, {"tools", nullptr}, {"add_generation_prompt", true}});
  LOCKSTEP_CHECK(!text.ok() || text.value().size() <= limits.output_bytes, "output limit");
  return 0;
}
