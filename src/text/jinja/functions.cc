#include "text/jinja/functions.h"

#include <fmt/format.h>

#include <ctime>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/fault.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"
#include "text/jinja/runtime.h"

namespace lockstep::jinja {
namespace {

// Items from start by step up to stop, which is not among them; beyond int64 counts as the largest.
int64_t range_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const uint64_t low = static_cast<uint64_t>(step > 0 ? start : stop);
  const uint64_t high = static_cast<uint64_t>(step > 0 ? stop : start);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t length = (high - low - 1) / stride + 1;
  return static_cast<int64_t>(std::min(length, uint64_t{INT64_MAX}));
}

Value range(Runtime& runtime, const Arguments& arguments) {
  const BoundArguments args("range", arguments, {"", "", ""}, 1);
  const bool only_stop = args.find(1) == nullptr;
  auto object = std::make_shared<Range>();
  object->start = only_stop ? 0 : args.integer(0);
  object->step = args.integer_or(2, 1);
  if (object->step == 0) fail("range: the step must not be zero");
  object->stop = args.integer(only_stop ? 0 : 1);
  object->length = range_length(object->start, object->stop, object->step);
  if (object->length > runtime.limits().range_items) {
    fail(fmt::format("a range has more than {} items", runtime.limits().range_items),
         FaultKind::kLimit);
  }
  return Value(Kind::kRange, std::move(object));
}

// dict(mapping or pairs, name=value ...).
MappingItems dict_items(Runtime& runtime, const char* function, const Arguments& arguments) {
  MappingItems items;
  if (arguments.positional.size() > 1) fail(fmt::format("{} takes at most one value", function));
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is(Kind::kMapping)) {
      items = source.as<Mapping>().items;
    } else {
      for (const Value& pair : collect(runtime, source)) {
        const Items both = collect(runtime, pair);
        if (both.size() != 2) fail(fmt::format("{}: every item must be a pair", function));
        items.emplace_back(both[0], both[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.keyword) {
    items.emplace_back(make_text(runtime, name), value);
  }
  return items;
}

Value dict(Runtime& runtime, const Arguments& arguments) {
  return make_mapping(runtime, dict_items(runtime, "dict", arguments));
}

Value make_namespace(Runtime& runtime, const Arguments& arguments) {
  const auto object = std::make_shared<Namespace>();
  runtime.adopt(object);
  const Value space(Kind::kNamespace, object);
  for (const auto& [name, value] : dict_items(runtime, "namespace", arguments)) {
    if (!name.is(Kind::kText)) fail("a namespace's names must be texts");
    set_attribute(runtime, space, name.text(), value);
  }
  return space;
}

Value raise_exception(Runtime& runtime, const Arguments& arguments) {
  const BoundArguments args("raise_exception", arguments, {"message"}, 1);
  fail(to_text(runtime, args.at(0)), FaultKind::kRaised);
}

Value strftime_now(Runtime& runtime, const Arguments& arguments) {
  const BoundArguments args("strftime_now", arguments, {"format"}, 1);
  const std::string format(args.text(0));
  if (!runtime.now()) {
    fail("it asks for the current time, and none was given", FaultKind::kUnsupported);
  }
  if (format.empty()) return make_text(runtime, "");
  char buffer[1024];
  const size_t size = std::strftime(buffer, sizeof(buffer), format.c_str(), &*runtime.now());
  if (size == 0) fail("strftime_now: the result is empty or longer than 1023 bytes");
  return make_text(runtime, std::string(buffer, size));
}

}  // namespace

std::vector<std::pair<std::string, Value>> standard_functions() {
  std::vector<std::pair<std::string, Value>> functions;
  const auto add = [&](const char* name, Value (*call)(Runtime&, const Arguments&)) {
    functions.emplace_back(name, make_callable(name, call));
  };
  add("range", range);
  add("dict", dict);
  add("namespace", make_namespace);
  add("raise_exception", raise_exception);
  add("strftime_now", strftime_now);
  return functions;
}

}  // namespace lockstep::jinja
