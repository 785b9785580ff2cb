// One rendering's budget, and the making of values that is charged to it.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/limits.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

class Runtime {
 public:
  Runtime(const Limits& limits, std::optional<std::tm> now) : limits_(limits), now_(now) {}
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Limits& limits() const { return limits_; }
  // The caller's clock for strftime_now.
  const std::optional<std::tm>& now() const { return now_; }

  void step(int64_t count = 1) {
    if (count > limits_.steps - steps_) fail_steps();
    steps_ += count;
  }
  // Bytes about to be copied, made or searched.
  void work(size_t bytes);

  // Depth of statements, expressions and calls under way.
  void enter() {
    if (++depth_ > limits_.depth) fail_depth();
  }
  void leave() { --depth_; }

  // Keeps the object until the rendering ends, which empties it.
  void adopt(std::shared_ptr<Mutable> object);

 private:
  [[noreturn]] void fail_steps() const;
  [[noreturn]] void fail_depth() const;

  const Limits limits_;
  const std::optional<std::tm> now_;
  int64_t steps_ = 0;
  int64_t work_ = 0;
  int depth_ = 0;
  std::vector<std::shared_ptr<Mutable>> adopted_;
};

class DepthGuard {
 public:
  explicit DepthGuard(Runtime& runtime) : runtime_(runtime) { runtime.enter(); }
  ~DepthGuard() { runtime_.leave(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Runtime& runtime_;
};

using Items = std::vector<Value>;
using MappingItems = std::vector<std::pair<Value, Value>>;

Value make_text(Runtime& runtime, std::string text, bool safe = false);
Value make_list(Runtime& runtime, Items items);
Value make_tuple(Runtime& runtime, Items items);
// Of equal keys the last value stays, in the first one's place. Keys that Python cannot hash are a
// Fault.
Value make_mapping(Runtime& runtime, const MappingItems& items);
// `inner_depth` is the deepest value that the iterator holds.
Value make_iterator(Runtime& runtime, std::shared_ptr<Iterator> iterator, int inner_depth);
Value make_callable(std::string name, std::function<Value(Runtime&, const Arguments&)> call,
                    int depth = 1);
int deepest(const Arguments& arguments);

// The depth of a container around something of this depth.
int container_depth(const Runtime& runtime, int inner);

}  // namespace lockstep::jinja
