#include "text/jinja/iterate.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/fault.h"
#include "text/jinja/loop.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

// Counts through a value whose items have positions.
class Counter : public Iterator {
 public:
  Counter(Value value, int64_t count, bool backwards)
      : value_(std::move(value)), count_(count), backwards_(backwards) {
    depth = value_.depth();
  }

  bool next(Runtime& runtime, Value& item) override {
    if (done_ >= count_) return false;
    runtime.step();
    const int64_t position = backwards_ ? count_ - 1 - done_ : done_;
    ++done_;
    switch (value_.kind()) {
      case Kind::kRange:
        item = range_item(value_.as<Range>(), position);
        break;
      case Kind::kMapping:
        item = value_.as<Mapping>().items[static_cast<size_t>(position)].first;
        break;
      case Kind::kView:
        item = view_item(runtime, value_.as<View>(), static_cast<size_t>(position));
        break;
      default:
        item = value_.items()[static_cast<size_t>(position)];
    }
    return true;
  }

 private:
  const Value value_;
  const int64_t count_;
  const bool backwards_;
  int64_t done_ = 0;
};

class Characters : public Iterator {
 public:
  Characters(Value text, bool backwards)
      : text_(std::move(text)),
        backwards_(backwards),
        position_(backwards ? text_.text().size() : 0) {
    depth = text_.depth();
  }

  bool next(Runtime& runtime, Value& item) override {
    const std::string_view text = text_.text();
    if (position_ == (backwards_ ? 0 : text.size())) return false;
    runtime.step();
    const size_t before = position_;
    if (backwards_) {
      previous_code_point(text, position_);
    } else {
      next_code_point(text, position_);
    }
    const size_t start = std::min(before, position_);
    item = make_text(runtime, std::string(text.substr(start, std::max(before, position_) - start)),
                     false);
    return true;
  }

 private:
  const Value text_;
  const bool backwards_;
  size_t position_;
};

}  // namespace

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kText:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kMapping:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kIterator:
      return true;
    default:
      return false;
  }
}

std::shared_ptr<Iterator> iterate(Runtime& runtime, const Value& value) {
  if (!is_iterable(value)) fail(fmt::format("'{}' is not iterable", type_name(value)));
  if (value.is(Kind::kIterator)) return std::static_pointer_cast<Iterator>(value.object());
  if (value.is(Kind::kText)) return std::make_shared<Characters>(value, false);
  return std::make_shared<Counter>(value, length_of(runtime, value), false);
}

std::shared_ptr<Iterator> iterate_backwards(Runtime& runtime, const Value& value) {
  if (value.is(Kind::kIterator) || !is_iterable(value)) return nullptr;
  if (value.is(Kind::kText)) return std::make_shared<Characters>(value, true);
  return std::make_shared<Counter>(value, length_of(runtime, value), true);
}

Items collect(Runtime& runtime, const Value& iterable) {
  if (iterable.is_sequence()) {
    runtime.step(static_cast<int64_t>(iterable.items().size()));
    runtime.work(iterable.items().size() * sizeof(Value));
    return iterable.items();
  }
  const auto iterator = iterate(runtime, iterable);
  Items items;
  Value item;
  while (iterator->next(runtime, item)) {
    runtime.work(sizeof(Value));
    items.push_back(std::move(item));
  }
  return items;
}

int64_t length_of(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kText:
      return static_cast<int64_t>(value.text_length());
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<int64_t>(value.items().size());
    case Kind::kMapping:
      return static_cast<int64_t>(value.as<Mapping>().items.size());
    case Kind::kRange:
      return value.as<Range>().length;
    case Kind::kView:
      return length_of(runtime, value.as<View>().mapping);
    case Kind::kLoop:
      return value.as<Loop>().length(runtime);
    default:
      return -1;
  }
}

Value range_item(const Range& range, int64_t position) {
  // Wraps on the way, never in the result.
  return Value::integer(
      static_cast<int64_t>(static_cast<uint64_t>(range.start) +
                           static_cast<uint64_t>(range.step) * static_cast<uint64_t>(position)));
}

Value view_item(Runtime& runtime, const View& view, size_t position) {
  const auto& [key, value] = view.mapping.as<Mapping>().items[position];
  switch (view.what) {
    case View::What::kKeys:
      return key;
    case View::What::kValues:
      return value;
    case View::What::kItems:
      return make_tuple(runtime, {key, value});
  }
  return {};
}

}  // namespace lockstep::jinja
