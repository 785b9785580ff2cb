#include "text/jinja/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/jinja/arguments.h"
#include "text/jinja/fault.h"
#include "text/jinja/operators.h"

namespace lockstep::jinja {
namespace {

Value view(const Value& mapping, View::What what) {
  auto object = std::make_shared<View>();
  object->what = what;
  object->mapping = mapping;
  object->depth = mapping.depth() + 1;
  return Value(Kind::kView, std::move(object));
}

Value mapping_keys(Runtime&, const Value& self, const Arguments& arguments) {
  const BoundArguments none("keys", arguments, {});
  return view(self, View::What::kKeys);
}

Value mapping_values(Runtime&, const Value& self, const Arguments& arguments) {
  const BoundArguments none("values", arguments, {});
  return view(self, View::What::kValues);
}

Value mapping_items(Runtime&, const Value& self, const Arguments& arguments) {
  const BoundArguments none("items", arguments, {});
  return view(self, View::What::kItems);
}

Value mapping_get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("get", arguments, {"", ""}, 1);
  const Value& key = args.at(0);
  const Value fallback = args.find(1) == nullptr ? Value::none() : args.at(1);
  if (!is_hashable(runtime, key)) fail(fmt::format("unhashable type: '{}'", type_name(key)));
  if (key.is(Kind::kText)) {
    const Value* value = self.as<Mapping>().find(key.text());
    return value == nullptr ? fallback : *value;
  }
  for (const auto& [known, value] : self.as<Mapping>().items) {
    if (equals(runtime, known, key)) return value;
  }
  return fallback;
}

Value copy_self(Runtime&, const Value& self, const Arguments& arguments) {
  const BoundArguments none("copy", arguments, {});
  return self;
}

Value sequence_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("index", arguments, {""}, 1);
  for (size_t i = 0; i < self.items().size(); ++i) {
    if (equals(runtime, self.items()[i], args.at(0))) {
      return Value::integer(static_cast<int64_t>(i));
    }
  }
  fail("index: the value is not in the list");
}

Value sequence_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("count", arguments, {""}, 1);
  int64_t count = 0;
  for (const Value& item : self.items()) count += equals(runtime, item, args.at(0)) ? 1 : 0;
  return Value::integer(count);
}

constexpr Method kMappingMethods[] = {
    {"copy", copy_self},    {"get", mapping_get},       {"items", mapping_items},
    {"keys", mapping_keys}, {"values", mapping_values},
};
constexpr Method kListMethods[] = {
    {"copy", copy_self}, {"count", sequence_count}, {"index", sequence_index}};
constexpr Method kTupleMethods[] = {{"count", sequence_count}, {"index", sequence_index}};

constexpr std::string_view kHiddenMappingMethods[] = {"clear",   "fromkeys",   "pop",
                                                      "popitem", "setdefault", "update"};
constexpr std::string_view kHiddenListMethods[] = {"append", "clear",  "extend",  "insert",
                                                   "pop",    "remove", "reverse", "sort"};

template <size_t N>
const Method* find_in(const Method (&methods)[N], std::string_view name) {
  const auto* found = std::find_if(std::begin(methods), std::end(methods),
                                   [&](const Method& method) { return method.name == name; });
  return found == std::end(methods) ? nullptr : found;
}

template <size_t N>
bool is_among(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

const Method* find_method(const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kText:
      return find_text_method(name);
    case Kind::kMapping:
      return find_in(kMappingMethods, name);
    case Kind::kList:
      return find_in(kListMethods, name);
    case Kind::kTuple:
      return find_in(kTupleMethods, name);
    default:
      return nullptr;
  }
}

bool is_hidden_attribute(const Value& object, std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return true;
  if (object.is(Kind::kMapping)) return is_among(kHiddenMappingMethods, name);
  return object.is(Kind::kList) && is_among(kHiddenListMethods, name);
}

}  // namespace lockstep::jinja
