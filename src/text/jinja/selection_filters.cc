// map, select, reject, selectattr and rejectattr. Like Python's generators they look at an item
// only when it is asked for.
#include <fmt/format.h>

#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/is_tests.h"
#include "text/jinja/iterate.h"
#include "text/jinja/select.h"

namespace lockstep::jinja {
namespace {

std::string text_argument(const char* filter, const Arguments& arguments, size_t index) {
  if (index >= arguments.positional.size()) fail(fmt::format("{} needs an argument", filter));
  const Value& value = arguments.positional[index];
  if (!value.is(Kind::kText)) {
    fail(fmt::format("{}: expected a name, got '{}'", filter, type_name(value)));
  }
  return std::string(value.text());
}

Arguments without_first(const Arguments& arguments, size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(),
                        rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

// Reads its input on demand; prepares itself when first asked.
class Lazy : public Iterator {
 public:
  Lazy(Value input, Arguments arguments)
      : input_(std::move(input)), arguments_(std::move(arguments)) {}

  bool next(Runtime& runtime, Value& item) override {
    const DepthGuard guard(runtime);
    if (!started_) {
      started_ = true;
      if (is_true(input_)) {
        prepare(runtime);
        source_ = iterate(runtime, input_);
      }
    }
    return source_ != nullptr && produce(runtime, item);
  }

 protected:
  virtual void prepare(Runtime& runtime) = 0;
  virtual bool produce(Runtime& runtime, Value& item) = 0;

  const Value input_;
  Arguments arguments_;
  std::shared_ptr<Iterator> source_;

 private:
  bool started_ = false;
};

class Map : public Lazy {
 public:
  using Lazy::Lazy;

 protected:
  void prepare(Runtime& runtime) override {
    if (arguments_.positional.empty() && !arguments_.keyword.empty()) {
      return prepare_attribute(runtime);
    }
    const std::string name = text_argument("map", arguments_, 0);
    filter_ = find_filter(name);
    if (filter_ == nullptr) fail(unknown_filter(name));
    arguments_ = without_first(arguments_, 1);
  }

  bool produce(Runtime& runtime, Value& item) override {
    Value input;
    if (!source_->next(runtime, input)) return false;
    item = filter_ != nullptr ? filter_->call(runtime, input, arguments_)
                              : path_.get(runtime, input, has_fallback_ ? &fallback_ : nullptr);
    return true;
  }

 private:
  void prepare_attribute(Runtime& runtime) {
    bool has_attribute = false;
    for (const auto& [name, value] : arguments_.keyword) {
      if (name == "attribute") {
        path_ = value.is(Kind::kNone) ? AttributePath() : AttributePath(runtime, value);
        has_attribute = true;
      } else if (name == "default") {
        fallback_ = value;
        has_fallback_ = !value.is(Kind::kNone);
      } else {
        fail(fmt::format("map has no argument '{}'", name));
      }
    }
    if (!has_attribute) fail("map needs a filter's name or an attribute");
  }

  const Method* filter_ = nullptr;
  AttributePath path_;
  Value fallback_;
  bool has_fallback_ = false;
};

class Select : public Lazy {
 public:
  Select(Value input, Arguments arguments, bool wanted, bool by_attribute)
      : Lazy(std::move(input), std::move(arguments)),
        wanted_(wanted),
        by_attribute_(by_attribute) {}

 protected:
  void prepare(Runtime& runtime) override {
    size_t used = 0;
    if (by_attribute_) {
      if (arguments_.positional.empty()) fail("selectattr and rejectattr need an attribute's name");
      const Value& attribute = arguments_.positional[used++];
      path_ = attribute.is(Kind::kNone) ? AttributePath() : AttributePath(runtime, attribute);
    }
    if (used < arguments_.positional.size()) {
      const std::string name = text_argument("select", arguments_, used++);
      test_ = find_test(name);
      if (test_ == nullptr) fail(fmt::format("there is no test '{}'", name));
    }
    arguments_ = without_first(arguments_, used);
  }

  bool produce(Runtime& runtime, Value& item) override {
    while (source_->next(runtime, item)) {
      const Value value = path_.get(runtime, item);
      const bool holds =
          test_ != nullptr ? test_->call(runtime, value, arguments_) : is_true(value);
      if (holds == wanted_) return true;
    }
    return false;
  }

 private:
  const bool wanted_, by_attribute_;
  AttributePath path_;
  const IsTest* test_ = nullptr;
};

int inner_depth(const Value& input, const Arguments& arguments) {
  return std::max(input.depth(), deepest(arguments));
}

template <bool kWanted, bool kByAttribute>
Value select(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return make_iterator(runtime, std::make_shared<Select>(input, arguments, kWanted, kByAttribute),
                       inner_depth(input, arguments));
}

Value map(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return make_iterator(runtime, std::make_shared<Map>(input, arguments),
                       inner_depth(input, arguments));
}

constexpr Method kSelectionFilters[] = {
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
};

}  // namespace

const Method* find_selection_filter(std::string_view name) {
  return find_in_table(kSelectionFilters, name);
}

}  // namespace lockstep::jinja
