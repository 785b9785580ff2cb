#include "text/jinja/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "text/jinja/fault.h"
#include "text/jinja/iterate.h"
#include "text/jinja/loop.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

Value missing(const Value& object, const std::string& name) {
  return Value::undefined(fmt::format("'{}' has no attribute or item {}", type_name(object), name));
}

Value bind(Runtime& runtime, const Value& self, const Method& method) {
  runtime.work(sizeof(Callable));
  const auto call = [self, function = method.call](Runtime& rt, const Arguments& arguments) {
    return function(rt, self, arguments);
  };
  return make_callable(std::string(method.name), call, container_depth(runtime, self.depth()));
}

std::optional<Value> find_position(Runtime& runtime, const Value& object, int64_t position) {
  const int64_t length = length_of(runtime, object);
  if (position < 0) position += length;
  if (position < 0 || position >= length) return std::nullopt;
  if (object.is_sequence()) return object.items()[static_cast<size_t>(position)];
  if (object.is(Kind::kRange)) return range_item(object.as<Range>(), position);
  const std::string_view text = object.text();
  size_t start = static_cast<size_t>(position);
  if (object.text_length() != text.size()) {
    runtime.work(text.size());
    start = byte_position(text, start);
  }
  size_t end = start;
  next_code_point(text, end);
  return make_text(runtime, std::string(text.substr(start, end - start)), object.is_safe_text());
}

// None where Python's object[key] raises LookupError or TypeError.
std::optional<Value> find_item(Runtime& runtime, const Value& object, const Value& key) {
  switch (object.kind()) {
    case Kind::kMapping: {
      if (key.is(Kind::kText)) {
        const Mapping& mapping = object.as<Mapping>();
        if (mapping.index.empty()) runtime.step(static_cast<int64_t>(mapping.items.size()) / 8);
        const Value* value = mapping.find(key.text());
        return value == nullptr ? std::nullopt : std::optional<Value>(*value);
      }
      for (const auto& [known, value] : object.as<Mapping>().items) {
        if (equals(runtime, known, key)) return value;
      }
      return std::nullopt;
    }
    case Kind::kText:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      if (!key.is_integral()) return std::nullopt;
      return find_position(runtime, object, key.as_integer());
    default:
      return std::nullopt;
  }
}

struct Slice {
  int64_t start, stop, step;
};

int64_t bound(const Value& value, int64_t fallback, int64_t length, int64_t low, int64_t high) {
  if (value.is(Kind::kNone)) return fallback;
  if (!value.is_integral()) {
    require_defined(value);
    fail(fmt::format("slice indices must be integers or None, not '{}'", type_name(value)));
  }
  int64_t position = value.as_integer();
  if (position < 0) position += length;
  return std::clamp(position, low, high);
}

Slice resolve_slice(const Value& start, const Value& stop, const Value& step, int64_t length) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t by = bound(step, 1, 0, -kMost, kMost);
  if (by == 0) fail("a slice's step cannot be zero");
  if (by > 0)
    return {bound(start, 0, length, 0, length), bound(stop, length, length, 0, length), by};
  return {bound(start, length - 1, length, -1, length - 1), bound(stop, -1, length, -1, length - 1),
          by};
}

int64_t slice_length(const Slice& slice) {
  if (slice.step > 0) {
    return slice.stop > slice.start ? (slice.stop - slice.start - 1) / slice.step + 1 : 0;
  }
  return slice.start > slice.stop ? (slice.start - slice.stop - 1) / -slice.step + 1 : 0;
}

Value slice_items(Runtime& runtime, const Value& object, const Slice& slice) {
  const int64_t count = slice_length(slice);
  runtime.step(count);
  runtime.work(static_cast<size_t>(count) * sizeof(Value));
  Items items;
  items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    items.push_back(object.items()[static_cast<size_t>(slice.start + i * slice.step)]);
  }
  return object.is(Kind::kList) ? make_list(runtime, std::move(items))
                                : make_tuple(runtime, std::move(items));
}

Value slice_text(Runtime& runtime, const Value& object, const Slice& slice) {
  const std::string_view text = object.text();
  const int64_t count = slice_length(slice);
  runtime.work(text.size());
  if (count == 0) return make_text(runtime, "", object.is_safe_text());
  if (slice.step == 1) {
    const size_t first = byte_position(text, static_cast<size_t>(slice.start));
    const size_t bytes = byte_position(text.substr(first), static_cast<size_t>(count));
    return make_text(runtime, std::string(text.substr(first, bytes)), object.is_safe_text());
  }
  runtime.work(object.text_length() * sizeof(size_t));
  std::vector<size_t> starts;  // where each code point begins
  starts.reserve(object.text_length() + 1);
  for (size_t i = 0; i < text.size(); next_code_point(text, i)) starts.push_back(i);
  starts.push_back(text.size());
  std::string out;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(slice.start + i * slice.step);
    out += text.substr(starts[at], starts[at + 1] - starts[at]);
  }
  return make_text(runtime, std::move(out), object.is_safe_text());
}

Value slice_range(const Range& range, const Slice& slice) {
  auto result = std::make_shared<Range>();
  result->length = slice_length(slice);
  result->start = range_item(range, slice.start).as_integer();
  result->stop = range_item(range, slice.stop).as_integer();
  if (__builtin_mul_overflow(range.step, slice.step, &result->step)) {
    result->step = slice.step;  // at most one item remains
  }
  return Value(Kind::kRange, std::move(result));
}

}  // namespace

std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kNamespace:
      if (const Value* value = object.as<Namespace>().find(name)) return *value;
      return std::nullopt;
    case Kind::kLoop:
      return object.as<Loop>().attribute(runtime, name);
    case Kind::kCallable:
      if (name == "name") return make_text(runtime, object.as<Callable>().name);
      return std::nullopt;
    default:
      break;
  }
  if (const Method* method = find_method(object, name)) return bind(runtime, object, *method);
  if (is_hidden_attribute(object, name)) {
    return Value::undefined(
        fmt::format("access to '{}' of '{}' is not safe", name, type_name(object)));
  }
  return std::nullopt;
}

Value get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  require_defined(object);
  if (auto attribute = find_attribute(runtime, object, name)) return *std::move(attribute);
  if (object.is(Kind::kMapping)) {
    const Mapping& mapping = object.as<Mapping>();
    if (mapping.index.empty()) runtime.step(static_cast<int64_t>(mapping.items.size()) / 8);
    if (const Value* value = mapping.find(name)) return *value;
  }
  return missing(object, quote_python(name));
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  require_defined(object);
  if (auto item = find_item(runtime, object, key)) return *std::move(item);
  if (key.is(Kind::kText)) {
    if (auto attribute = find_attribute(runtime, object, key.text())) return *std::move(attribute);
  }
  std::string name;
  append_repr(runtime, key, name);
  return missing(object, name);
}

Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                const Value& step) {
  require_defined(object);
  if (!object.is(Kind::kText) && !object.is_sequence() && !object.is(Kind::kRange)) {
    fail(fmt::format("'{}' cannot be sliced", type_name(object)));
  }
  const Slice slice = resolve_slice(start, stop, step, length_of(runtime, object));
  if (object.is(Kind::kText)) return slice_text(runtime, object, slice);
  if (object.is(Kind::kRange)) return slice_range(object.as<Range>(), slice);
  return slice_items(runtime, object, slice);
}

void set_attribute(Runtime& runtime, const Value& space, std::string_view name,
                   const Value& value) {
  if (!space.is(Kind::kNamespace)) fail("cannot assign attribute on non-namespace object");
  if (name.starts_with('_')) {
    fail(fmt::format("a namespace cannot hold '{}': its name starts with an underscore", name));
  }
  if (Value* known = space.as<Namespace>().find(name)) {
    *known = value;
    return;
  }
  runtime.work(sizeof(Value) + name.size());
  space.as<Namespace>().attributes.emplace_back(name, value);
}

}  // namespace lockstep::jinja
