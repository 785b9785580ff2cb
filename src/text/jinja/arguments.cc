#include "text/jinja/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/fault.h"

namespace lockstep::jinja {

BoundArguments::BoundArguments(std::string_view function, const Arguments& arguments,
                               std::initializer_list<std::string_view> names, size_t required)
    : function_(function), values_(names.size(), nullptr) {
  if (arguments.positional.size() > names.size()) {
    fail(fmt::format("{} takes at most {} arguments, got {}", function, names.size(),
                     arguments.positional.size()));
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.keyword) {
    const auto* found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) fail(fmt::format("{} has no argument '{}'", function, name));
    const Value*& slot = values_[static_cast<size_t>(found - names.begin())];
    if (slot != nullptr) fail(fmt::format("{} got the argument '{}' twice", function, name));
    slot = &value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (values_[i] == nullptr) {
      fail(fmt::format("{} needs at least {} arguments", function, required));
    }
  }
}

std::string_view BoundArguments::text(size_t index) const {
  if (!at(index).is(Kind::kText)) fail_type(index, "str");
  return at(index).text();
}

std::string_view BoundArguments::text_or(size_t index, std::string_view fallback) const {
  return find(index) == nullptr ? fallback : text(index);
}

int64_t BoundArguments::integer(size_t index) const {
  if (!at(index).is_integral()) fail_type(index, "int");
  return at(index).as_integer();
}

int64_t BoundArguments::integer_or(size_t index, int64_t fallback) const {
  return find(index) == nullptr ? fallback : integer(index);
}

bool BoundArguments::truth_or(size_t index, bool fallback) const {
  return find(index) == nullptr ? fallback : is_true(at(index));
}

bool BoundArguments::is_none(size_t index) const {
  return find(index) == nullptr || at(index).is(Kind::kNone);
}

void BoundArguments::fail_type(size_t index, const char* expected) const {
  if (at(index).is(Kind::kUndefined)) fail(at(index).undefined_message());
  fail(fmt::format("{}: argument {} must be {}, not {}", function_, index + 1, expected,
                   type_name(at(index))));
}

}  // namespace lockstep::jinja
