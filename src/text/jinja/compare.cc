#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/fault.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"

namespace lockstep::jinja {
namespace {

// long double holds every int64 and every double exactly on x86-64 and AArch64.
long double exact(const Value& value) {
  return value.is(Kind::kFloat) ? static_cast<long double>(value.as_double())
                                : static_cast<long double>(value.as_integer());
}

bool equal_items(Runtime& runtime, const Items& left, const Items& right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!equals(runtime, left[i], right[i])) return false;
  }
  return true;
}

const Value* find_key(Runtime& runtime, const Mapping& mapping, const Value& key) {
  if (key.is(Kind::kText)) {
    if (mapping.index.empty()) runtime.step(static_cast<int64_t>(mapping.items.size()) / 8);
    return mapping.find(key.text());
  }
  for (const auto& [known, value] : mapping.items) {
    if (equals(runtime, known, key)) return &value;
  }
  return nullptr;
}

bool equal_mappings(Runtime& runtime, const Mapping& left, const Mapping& right) {
  if (left.items.size() != right.items.size()) return false;
  for (const auto& [key, value] : left.items) {
    const Value* other = find_key(runtime, right, key);
    if (other == nullptr || !equals(runtime, value, *other)) return false;
  }
  return true;
}

bool equal_ranges(const Range& left, const Range& right) {
  if (left.length != right.length) return false;
  if (left.length == 0) return true;
  return left.start == right.start && (left.length == 1 || left.step == right.step);
}

// Views of keys and items compare as sets, views of values by identity.
bool equal_views(Runtime& runtime, const Value& left, const Value& right) {
  const View& a = left.as<View>();
  const View& b = right.as<View>();
  if (a.what == View::What::kValues || a.what != b.what) return left.object() == right.object();
  const Mapping& first = a.mapping.as<Mapping>();
  const Mapping& second = b.mapping.as<Mapping>();
  if (a.what == View::What::kItems) return equal_mappings(runtime, first, second);
  if (first.items.size() != second.items.size()) return false;
  for (const auto& [key, value] : first.items) {
    if (find_key(runtime, second, key) == nullptr) return false;
  }
  return true;
}

[[noreturn]] void fail_order(const Value& left, const Value& right) {
  require_defined(left);
  require_defined(right);
  fail(fmt::format("'{}' and '{}' have no order", type_name(left), type_name(right)));
}

// -1, 0, 1, or 2 where one of two numbers is NaN.
int order(Runtime& runtime, const Value& left, const Value& right) {
  const DepthGuard guard(runtime);
  runtime.step();
  if (left.is_number() && right.is_number()) {
    const long double a = exact(left);
    const long double b = exact(right);
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
  }
  if (left.is(Kind::kText) && right.is(Kind::kText)) {
    runtime.work(std::min(left.text().size(), right.text().size()));
    const int result = left.text().compare(right.text());
    return result < 0 ? -1 : result > 0 ? 1 : 0;
  }
  if (!left.is_sequence() || left.kind() != right.kind()) fail_order(left, right);
  const Items& a = left.items();
  const Items& b = right.items();
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!equals(runtime, a[i], b[i])) return order(runtime, a[i], b[i]);
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

bool contains_text(Runtime& runtime, const Value& text, const Value& part) {
  if (!part.is(Kind::kText)) {
    fail(fmt::format("'in <string>' needs a string on its left, not '{}'", type_name(part)));
  }
  runtime.work(text.text().size());
  return text.text().find(part.text()) != std::string_view::npos;
}

bool contains_item(Runtime& runtime, const Value& iterable, const Value& item) {
  const auto iterator = iterate(runtime, iterable);
  Value candidate;
  while (iterator->next(runtime, candidate)) {
    if (candidate.object() != nullptr && candidate.object() == item.object()) return true;
    if (equals(runtime, candidate, item)) return true;
  }
  return false;
}

}  // namespace

bool equals(Runtime& runtime, const Value& left, const Value& right) {
  runtime.step();
  if (left.is_number() && right.is_number()) return exact(left) == exact(right);
  if (left.kind() != right.kind()) return false;
  const DepthGuard guard(runtime);
  switch (left.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      if (left.text().size() == right.text().size()) runtime.work(left.text().size());
      return left.text() == right.text();
    case Kind::kList:
    case Kind::kTuple:
      return equal_items(runtime, left.items(), right.items());
    case Kind::kMapping:
      return equal_mappings(runtime, left.as<Mapping>(), right.as<Mapping>());
    case Kind::kRange:
      return equal_ranges(left.as<Range>(), right.as<Range>());
    case Kind::kView:
      return equal_views(runtime, left, right);
    default:
      return left.object() == right.object();
  }
}

bool less(Runtime& runtime, const Value& left, const Value& right) {
  return order(runtime, left, right) == -1;
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kText:
      return contains_text(runtime, container, item);
    case Kind::kMapping:
      if (!is_hashable(runtime, item)) fail(fmt::format("unhashable type: '{}'", type_name(item)));
      return find_key(runtime, container.as<Mapping>(), item) != nullptr;
    default:
      return contains_item(runtime, container, item);
  }
}

bool compare(Runtime& runtime, Comparison op, const Value& left, const Value& right) {
  switch (op) {
    case Comparison::kEqual:
      return equals(runtime, left, right);
    case Comparison::kNotEqual:
      return !equals(runtime, left, right);
    case Comparison::kLess:
      return order(runtime, left, right) == -1;
    case Comparison::kLessEqual:
      return order(runtime, left, right) <= 0;
    case Comparison::kGreater:
      return order(runtime, left, right) == 1;
    case Comparison::kGreaterEqual: {
      const int result = order(runtime, left, right);
      return result == 0 || result == 1;
    }
    case Comparison::kIn:
      return contains(runtime, right, left);
    case Comparison::kNotIn:
      return !contains(runtime, right, left);
  }
  return false;
}

bool is_hashable(Runtime& runtime, const Value& value) {
  runtime.step();
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kMapping:
    case Kind::kView:
      return false;
    case Kind::kTuple:
      return std::all_of(value.items().begin(), value.items().end(),
                         [&](const Value& item) { return is_hashable(runtime, item); });
    default:
      return true;
  }
}

}  // namespace lockstep::jinja
