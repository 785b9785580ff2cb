#include "text/jinja/loop.h"

#include "text/jinja/fault.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"

namespace lockstep::jinja {
namespace {

Value cycle(const Arguments& arguments, int64_t index0) {
  const auto& values = arguments.positional;
  if (values.empty()) fail("loop.cycle needs at least one value");
  return values[static_cast<size_t>(index0) % values.size()];
}

}  // namespace

bool Loop::advance(Runtime& runtime, Value& item) {
  if (next_) {
    item = *next_;
    next_.reset();
  } else if (!items_->next(runtime, item)) {
    return false;
  }
  ++index0_;
  previous_ = std::move(current_);
  current_ = item;
  return true;
}

bool Loop::peek(Runtime& runtime) {
  if (next_) return true;
  Value item;
  if (!items_->next(runtime, item)) return false;
  next_ = std::move(item);
  return true;
}

int64_t Loop::length(Runtime& runtime) {
  if (length_ < 0) {
    Items rest;
    Value item;
    while (items_->next(runtime, item)) {
      runtime.work(sizeof(Value));
      rest.push_back(std::move(item));
    }
    length_ = static_cast<int64_t>(rest.size()) + index0_ + 1 + (next_ ? 1 : 0);
    items_ = iterate(runtime, make_list(runtime, std::move(rest)));
  }
  return length_;
}

std::optional<Value> Loop::attribute(Runtime& runtime, std::string_view name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek(runtime));
  if (name == "length") return Value::integer(length(runtime));
  if (name == "revindex") return Value::integer(length(runtime) - index0_);
  if (name == "revindex0") return Value::integer(length(runtime) - index0_ - 1);
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "previtem") {
    return index0_ == 0 ? Value::undefined("there is no previous item") : previous_;
  }
  if (name == "nextitem") {
    return peek(runtime) ? *next_ : Value::undefined("there is no next item");
  }
  if (name == "cycle") {
    return make_callable("cycle", [index0 = index0_](Runtime&, const Arguments& arguments) {
      return cycle(arguments, index0);
    });
  }
  if (name == "changed") {
    return make_callable(
        "changed",
        [self = shared_from_this()](Runtime& rt, const Arguments& arguments) {
          return Value::boolean(self->changed(rt, arguments));
        },
        container_depth(runtime, depth));
  }
  return std::nullopt;
}

bool Loop::changed(Runtime& runtime, const Arguments& arguments) {
  Value now = make_tuple(runtime, arguments.positional);
  if (changed_ && equals(runtime, *changed_, now)) return false;
  if (!changed_) runtime.adopt(shared_from_this());
  changed_ = std::move(now);
  return true;
}

void Loop::clear() {
  previous_ = current_ = Value();
  next_.reset();
  changed_.reset();
}

Value Loop::call(Runtime& runtime, const Arguments& arguments) const {
  if (!recurse_) fail("the loop must be marked 'recursive' to be called");
  if (arguments.positional.size() != 1 || !arguments.keyword.empty()) {
    fail("a recursive loop takes one argument, the items");
  }
  return recurse_(runtime, arguments.positional[0], depth0_ + 1);
}

}  // namespace lockstep::jinja
