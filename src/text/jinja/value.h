// What a template computes with: Python's values, immutable except for namespaces and iterators.
// Text and containers are shared, never copied.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lockstep::jinja {

class Runtime;
class Value;
struct Arguments;

enum class Kind : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInteger,
  kFloat,
  kText,
  kList,
  kTuple,
  kMapping,
  kRange,
  kView,       // keys(), values() or items() of a mapping
  kNamespace,  // the one thing that templates may change
  kCallable,   // a macro, method or function
  kLoop,
  kIterator,  // can be read once, like a Python generator
};

// Shared part of a value. `depth` counts containers inside one another, itself included, so that
// nothing that walks a value runs out of stack.
struct Object {
  virtual ~Object() = default;
  int depth = 1;
};

class Value {
 public:
  Value() = default;  // undefined, without a name
  static Value none() { return Value(Kind::kNone, 0); }
  static Value boolean(bool value) { return Value(Kind::kBool, value ? 1 : 0); }
  static Value integer(int64_t value) { return Value(Kind::kInteger, value); }
  static Value number(double value);
  // For what is not charged to a rendering: names and literals. Rendering uses make_text().
  static Value literal(std::string text, bool safe = false);
  // `why` is the sentence of the fault when the value is used after all.
  static Value undefined(std::string why);
  Value(Kind kind, std::shared_ptr<Object> object) : kind_(kind), object_(std::move(object)) {}

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  // Integers and booleans, which Python counts as integers.
  bool is_integral() const { return kind_ == Kind::kInteger || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }

  bool as_bool() const { return integer_ != 0; }
  int64_t as_integer() const { return integer_; }  // of integers and booleans
  double as_double() const;                        // of any number
  std::string_view text() const;
  bool is_safe_text() const;                // marked by the filter "safe" or "escape"
  size_t text_length() const;               // in code points
  const std::vector<Value>& items() const;  // of lists and tuples
  std::string undefined_message() const;

  template <typename T>
  T& as() const {
    return static_cast<T&>(*object_);
  }
  const std::shared_ptr<Object>& object() const { return object_; }
  int depth() const { return object_ ? object_->depth : 0; }

 private:
  Value(Kind kind, int64_t integer) : kind_(kind), integer_(integer) {}

  Kind kind_ = Kind::kUndefined;
  union {
    int64_t integer_ = 0;
    double number_;
  };
  std::shared_ptr<Object> object_;
};

struct UndefinedReason : Object {
  std::string why;
};

struct Text : Object {
  std::string bytes;  // UTF-8
  size_t length = 0;  // code points
  bool safe = false;
};

struct Sequence : Object {
  std::vector<Value> items;
};

struct Mapping : Object {
  std::vector<std::pair<Value, Value>> items;          // in order of insertion, keys unique
  std::unordered_map<std::string_view, size_t> index;  // of text keys, once there are many

  const Value* find(std::string_view key) const;
};

struct Range : Object {
  int64_t start = 0, stop = 0, step = 1;
  int64_t length = 0;
};

struct View : Object {
  enum class What : uint8_t { kKeys, kValues, kItems };
  What what = What::kKeys;
  Value mapping;
};

// What can be made to hold itself. The rendering empties it at its end, so that nothing leaks.
struct Mutable : Object {
  virtual void clear() = 0;
};

struct Namespace : Mutable {
  std::vector<std::pair<std::string, Value>> attributes;

  Value* find(std::string_view name);
  void clear() override { attributes.clear(); }
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;
};

struct Callable : Object {
  std::string name;
  std::function<Value(Runtime&, const Arguments&)> call;
};

struct Iterator : Object {
  // False at the end; may be called again then.
  virtual bool next(Runtime& runtime, Value& item) = 0;
};

// "str", "int", "dict" ... for messages.
const char* type_name(const Value& value);

bool is_true(const Value& value);

}  // namespace lockstep::jinja
