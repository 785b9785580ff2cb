#include "text/jinja/runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/fault.h"
#include "text/jinja/operators.h"

namespace lockstep::jinja {
namespace {

constexpr size_t kObjectBytes = 64;
constexpr size_t kIndexedMapping = 16;  // mappings of this size get a hash index

Value make_sequence(Runtime& runtime, Items items, Kind kind) {
  runtime.work(kObjectBytes + items.size() * sizeof(Value));
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  auto object = std::make_shared<Sequence>();
  object->depth = container_depth(runtime, depth);
  object->items = std::move(items);
  return Value(kind, std::move(object));
}

// Puts items into a mapping one by one.
class MappingBuilder {
 public:
  explicit MappingBuilder(Runtime& runtime) : runtime_(runtime) {}

  void put(const Value& key, const Value& value) {
    if (!is_hashable(runtime_, key)) fail(fmt::format("unhashable type: '{}'", type_name(key)));
    depth_ = std::max({depth_, key.depth(), value.depth()});
    if (Value* known = find(key)) {
      *known = value;
      return;
    }
    mapping_->items.emplace_back(key, value);
    if (mapping_->items.size() > kIndexedMapping) index_from(mapping_->items.size() - 1);
  }

  Value finish() {
    runtime_.work(kObjectBytes + mapping_->items.size() * 2 * sizeof(Value));
    mapping_->depth = container_depth(runtime_, depth_);
    return Value(Kind::kMapping, std::move(mapping_));
  }

 private:
  Value* find(const Value& key) {
    if (key.is(Kind::kText)) {
      runtime_.step(mapping_->index.empty() ? 1 + static_cast<int64_t>(mapping_->items.size()) / 8
                                            : 1);
      return const_cast<Value*>(mapping_->find(key.text()));
    }
    for (auto& [known, value] : mapping_->items) {
      runtime_.step();
      if (equals(runtime_, known, key)) return &value;
    }
    return nullptr;
  }

  void index_from(size_t item) {
    if (mapping_->index.empty()) item = 0;
    for (; item < mapping_->items.size(); ++item) {
      const Value& key = mapping_->items[item].first;
      if (key.is(Kind::kText)) mapping_->index.emplace(key.text(), item);
    }
  }

  Runtime& runtime_;
  int depth_ = 0;
  std::shared_ptr<Mapping> mapping_ = std::make_shared<Mapping>();
};

}  // namespace

Runtime::~Runtime() {
  for (const auto& object : adopted_) object->clear();
}

void Runtime::work(size_t bytes) {
  if (bytes > static_cast<size_t>(limits_.work_bytes - work_)) {
    fail(fmt::format("it makes or searches more than {} bytes of text and lists",
                     limits_.work_bytes),
         FaultKind::kLimit);
  }
  work_ += static_cast<int64_t>(bytes);
}

void Runtime::fail_steps() const {
  fail(fmt::format("it takes more than {} steps", limits_.steps), FaultKind::kLimit);
}

void Runtime::fail_depth() const {
  fail(fmt::format("its calls and expressions are nested more than {} deep", limits_.depth),
       FaultKind::kLimit);
}

void Runtime::adopt(std::shared_ptr<Mutable> object) {
  work(kObjectBytes);
  adopted_.push_back(std::move(object));
}

int container_depth(const Runtime& runtime, int inner) {
  if (inner >= runtime.limits().value_depth) {
    fail(fmt::format("its values are nested more than {} deep", runtime.limits().value_depth),
         FaultKind::kLimit);
  }
  return inner + 1;
}

Value make_text(Runtime& runtime, std::string text, bool safe) {
  runtime.work(kObjectBytes + text.size());
  return Value::literal(std::move(text), safe);
}

Value make_list(Runtime& runtime, Items items) {
  return make_sequence(runtime, std::move(items), Kind::kList);
}

Value make_tuple(Runtime& runtime, Items items) {
  return make_sequence(runtime, std::move(items), Kind::kTuple);
}

Value make_mapping(Runtime& runtime, const MappingItems& items) {
  MappingBuilder builder(runtime);
  for (const auto& [key, value] : items) builder.put(key, value);
  return builder.finish();
}

int deepest(const Arguments& arguments) {
  int depth = 0;
  for (const Value& value : arguments.positional) depth = std::max(depth, value.depth());
  for (const auto& [name, value] : arguments.keyword) depth = std::max(depth, value.depth());
  return depth;
}

Value make_iterator(Runtime& runtime, std::shared_ptr<Iterator> iterator, int inner_depth) {
  runtime.work(kObjectBytes);
  iterator->depth = container_depth(runtime, inner_depth);
  return Value(Kind::kIterator, std::move(iterator));
}

Value make_callable(std::string name, std::function<Value(Runtime&, const Arguments&)> call,
                    int depth) {
  auto object = std::make_shared<Callable>();
  object->name = std::move(name);
  object->call = std::move(call);
  object->depth = depth;
  return Value(Kind::kCallable, std::move(object));
}

}  // namespace lockstep::jinja
