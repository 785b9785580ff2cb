// Python's iter() and reversed() over template values.
#pragma once

#include <memory>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

bool is_iterable(const Value& value);
// A Fault where the value cannot be iterated. Each item costs a step.
std::shared_ptr<Iterator> iterate(Runtime& runtime, const Value& value);
// Null where Python's reversed() refuses: iterators and things without items.
std::shared_ptr<Iterator> iterate_backwards(Runtime& runtime, const Value& value);
Items collect(Runtime& runtime, const Value& iterable);

// Python's len(); -1 where the value has none.
int64_t length_of(Runtime& runtime, const Value& value);

// Item `position` of a view, a range or a mapping's keys.
Value range_item(const Range& range, int64_t position);
Value view_item(Runtime& runtime, const View& view, size_t position);

}  // namespace lockstep::jinja
