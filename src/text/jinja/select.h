// What the filters that look into items share.
#pragma once

#include <vector>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

// An attribute argument: a name, "a.b.0", or a position. Empty means the item itself.
class AttributePath {
 public:
  AttributePath() = default;
  AttributePath(Runtime& runtime, const Value& attribute);

  // A part that is missing becomes `fallback` where one is given.
  Value get(Runtime& runtime, const Value& item, const Value* fallback = nullptr) const;

 private:
  std::vector<Value> parts_;
};

// The item, or its attribute, as a sort key: text in lower case unless case counts.
Value sort_key(Runtime& runtime, const AttributePath& path, const Value& item, bool case_sensitive);

// Computes its items when first asked, as a Python generator does.
Value deferred(Runtime& runtime, int inner_depth, std::function<Items(Runtime&)> compute);

}  // namespace lockstep::jinja
