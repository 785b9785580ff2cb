#include "text/jinja/select.h"

#include <memory>

#include "text/jinja/attributes.h"
#include "text/jinja/literal.h"
#include "text/jinja/text_tools.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

class Deferred : public Iterator {
 public:
  explicit Deferred(std::function<Items(Runtime&)> compute) : compute_(std::move(compute)) {}

  bool next(Runtime& runtime, Value& item) override {
    if (compute_) {
      const auto compute = std::move(compute_);
      compute_ = nullptr;
      items_ = compute(runtime);
    }
    if (position_ >= items_.size()) return false;
    runtime.step();
    item = items_[position_++];
    return true;
  }

 private:
  std::function<Items(Runtime&)> compute_;
  Items items_;
  size_t position_ = 0;
};

}  // namespace

AttributePath::AttributePath(Runtime& runtime, const Value& attribute) {
  if (!attribute.is(Kind::kText)) {
    parts_.push_back(attribute);
    return;
  }
  runtime.work(8 * attribute.text().size());
  for (const std::string_view part : split_on(attribute.text(), ".", -1, false)) {
    const bool position = all_ascii(part) && all_digits(part);
    parts_.push_back(position ? Value::integer(*parse_python_int(part, 10))
                              : make_text(runtime, std::string(part)));
  }
}

Value AttributePath::get(Runtime& runtime, const Value& item, const Value* fallback) const {
  Value value = item;
  for (const Value& part : parts_) {
    runtime.step();
    value = get_item(runtime, value, part);
    if (fallback != nullptr && value.is(Kind::kUndefined)) value = *fallback;
  }
  return value;
}

Value sort_key(Runtime& runtime, const AttributePath& path, const Value& item,
               bool case_sensitive) {
  Value key = path.get(runtime, item);
  if (case_sensitive || !key.is(Kind::kText)) return key;
  runtime.work(3 * key.text().size());
  return make_text(runtime, to_lower(key.text()));
}

Value deferred(Runtime& runtime, int inner_depth, std::function<Items(Runtime&)> compute) {
  return make_iterator(runtime, std::make_shared<Deferred>(std::move(compute)), inner_depth);
}

}  // namespace lockstep::jinja
