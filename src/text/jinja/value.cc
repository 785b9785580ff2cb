#include "text/jinja/value.h"

#include "text/jinja/unicode.h"

namespace lockstep::jinja {

Value Value::number(double value) {
  Value result(Kind::kFloat, 0);
  result.number_ = value;
  return result;
}

Value Value::literal(std::string text, bool safe) {
  auto object = std::make_shared<Text>();
  object->length = count_code_points(text);
  object->bytes = std::move(text);
  object->safe = safe;
  return Value(Kind::kText, std::move(object));
}

Value Value::undefined(std::string why) {
  auto object = std::make_shared<UndefinedReason>();
  object->why = std::move(why);
  return Value(Kind::kUndefined, std::move(object));
}

double Value::as_double() const {
  return kind_ == Kind::kFloat ? number_ : static_cast<double>(integer_);
}

std::string_view Value::text() const { return as<Text>().bytes; }
bool Value::is_safe_text() const { return kind_ == Kind::kText && as<Text>().safe; }
size_t Value::text_length() const { return as<Text>().length; }
const std::vector<Value>& Value::items() const { return as<Sequence>().items; }

std::string Value::undefined_message() const {
  return object_ ? as<UndefinedReason>().why : "the value is undefined";
}

const Value* Mapping::find(std::string_view key) const {
  if (!index.empty()) {
    const auto found = index.find(key);
    return found == index.end() ? nullptr : &items[found->second].second;
  }
  for (const auto& [name, value] : items) {
    if (name.is(Kind::kText) && name.text() == key) return &value;
  }
  return nullptr;
}

Value* Namespace::find(std::string_view name) {
  for (auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

const char* type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return "undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInteger:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kMapping:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      return "dict view";
    case Kind::kNamespace:
      return "namespace";
    case Kind::kCallable:
      return "function";
    case Kind::kLoop:
      return "loop";
    case Kind::kIterator:
      return "generator";
  }
  return "value";
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInteger:
      return value.as_integer() != 0;
    case Kind::kFloat:
      return value.as_double() != 0;
    case Kind::kText:
      return !value.text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.items().empty();
    case Kind::kMapping:
      return !value.as<Mapping>().items.empty();
    case Kind::kRange:
      return value.as<Range>().length != 0;
    case Kind::kView:
      return is_true(value.as<View>().mapping);
    case Kind::kNamespace:
    case Kind::kCallable:
    case Kind::kLoop:
    case Kind::kIterator:
      return true;
  }
  return true;
}

}  // namespace lockstep::jinja
