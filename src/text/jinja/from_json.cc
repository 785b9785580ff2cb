#include "text/jinja/from_json.h"

#include <limits>

#include "text/jinja/fault.h"
#include "text/utf8.h"

namespace lockstep::jinja {
namespace {

Value text_from_json(Runtime& runtime, std::string_view text) {
  if (!is_valid_utf8(text)) fail("a text given to the template is not valid UTF-8");
  return make_text(runtime, std::string(text));
}

}  // namespace

Value from_json(Runtime& runtime, const json::value& value) {
  const DepthGuard guard(runtime);
  switch (value.kind()) {
    case json::kind::null:
      return Value::none();
    case json::kind::bool_:
      return Value::boolean(value.get_bool());
    case json::kind::int64:
      return Value::integer(value.get_int64());
    case json::kind::uint64:
      if (value.get_uint64() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        fail("an integer given to the template does not fit in 64 bits");
      }
      return Value::integer(static_cast<int64_t>(value.get_uint64()));
    case json::kind::double_:
      return Value::number(value.get_double());
    case json::kind::string:
      return text_from_json(runtime, value.get_string());
    case json::kind::array: {
      Items items;
      for (const json::value& item : value.get_array()) items.push_back(from_json(runtime, item));
      return make_list(runtime, std::move(items));
    }
    case json::kind::object: {
      MappingItems items;
      for (const auto& item : value.get_object()) {
        items.emplace_back(text_from_json(runtime, item.key()), from_json(runtime, item.value()));
      }
      return make_mapping(runtime, items);
    }
  }
  return Value::none();
}

}  // namespace lockstep::jinja
