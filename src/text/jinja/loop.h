// The variable `loop` of a for statement: reads its items one ahead only when asked to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

class Loop : public Mutable, public std::enable_shared_from_this<Loop> {
 public:
  // Renders the loop's body over the items of a value, `depth0` levels down.
  using Recurse = std::function<Value(Runtime&, const Value& items, int depth0)>;

  // `length` is -1 where it is only known after reading everything.
  Loop(std::shared_ptr<Iterator> items, int64_t length, int depth0)
      : items_(std::move(items)), length_(length), depth0_(depth0) {
    depth = items_->depth + 1;
  }

  // For loops marked "recursive", which a template may call.
  void set_recurse(Recurse recurse) { recurse_ = std::move(recurse); }

  // Moves to the next item.
  bool advance(Runtime& runtime, Value& item);
  int64_t length(Runtime& runtime);
  // None where `loop` has no such attribute.
  std::optional<Value> attribute(Runtime& runtime, std::string_view name);
  Value call(Runtime& runtime, const Arguments& arguments) const;
  void clear() override;

 private:
  bool peek(Runtime& runtime);
  bool changed(Runtime& runtime, const Arguments& arguments);

  std::shared_ptr<Iterator> items_;
  int64_t length_;
  int depth0_;
  int64_t index0_ = -1;
  Recurse recurse_;
  Value previous_, current_;
  std::optional<Value> next_;
  std::optional<Value> changed_;
};

}  // namespace lockstep::jinja
