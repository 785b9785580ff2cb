#include <fmt/format.h>

#include "text/jinja/attributes.h"
#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/is_tests.h"
#include "text/jinja/iterate.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"

namespace lockstep::jinja {

Value Interpreter::evaluate(const Expression& expression, const ScopePtr& scope) {
  const DepthGuard guard(runtime_);
  runtime_.step();
  line_ = expression.line;
  switch (expression.kind) {
    case ExpressionKind::kConstant:
      return expression.constant;
    case ExpressionKind::kName:
      return evaluate_name(expression, scope);
    case ExpressionKind::kTuple:
    case ExpressionKind::kList:
      return evaluate_list(expression, scope);
    case ExpressionKind::kMapping:
      return evaluate_mapping(expression, scope);
    case ExpressionKind::kAttribute:
      return get_attribute(runtime_, child(expression, 0, scope), expression.name);
    case ExpressionKind::kSlice:
      return evaluate_slice(expression, scope);
    case ExpressionKind::kCall:
      return evaluate_call(expression, scope, nullptr);
    case ExpressionKind::kFilter:
      return evaluate_filter(expression, scope, nullptr);
    case ExpressionKind::kTest:
      return evaluate_test(expression, scope);
    case ExpressionKind::kCompare:
      return evaluate_comparison(expression, scope);
    case ExpressionKind::kConcatenate:
      return evaluate_concatenation(expression, scope);
    case ExpressionKind::kConditional:
      return evaluate_conditional(expression, scope);
    default:
      return evaluate_operator(expression, scope);
  }
}

Value Interpreter::evaluate_operator(const Expression& expression, const ScopePtr& scope) {
  Value left = child(expression, 0, scope);
  switch (expression.kind) {
    case ExpressionKind::kNegate:
      return negate(left);
    case ExpressionKind::kPlus:
      return unary_plus(left);
    case ExpressionKind::kNot:
      return Value::boolean(!is_true(left));
    case ExpressionKind::kAnd:
      return is_true(left) ? child(expression, 1, scope) : left;
    case ExpressionKind::kOr:
      return is_true(left) ? left : child(expression, 1, scope);
    case ExpressionKind::kItem: {
      const Value key = child(expression, 1, scope);
      return get_item(runtime_, left, key);
    }
    default: {
      const Value right = child(expression, 1, scope);
      return binary(runtime_, expression.binary, left, right);
    }
  }
}

Value Interpreter::evaluate_name(const Expression& expression, const ScopePtr& scope) {
  if (const Value* value = scope->find(runtime_, expression.name_id)) return *value;
  const auto& global = globals_[static_cast<size_t>(expression.name_id)];
  if (global) return *global;
  return Value::undefined(fmt::format("'{}' is undefined", expression.name));
}

Value Interpreter::evaluate_list(const Expression& expression, const ScopePtr& scope) {
  Items items;
  items.reserve(expression.children.size());
  for (const auto& item : expression.children) items.push_back(evaluate(*item, scope));
  return expression.kind == ExpressionKind::kList ? make_list(runtime_, std::move(items))
                                                  : make_tuple(runtime_, std::move(items));
}

Value Interpreter::evaluate_mapping(const Expression& expression, const ScopePtr& scope) {
  MappingItems items;
  for (size_t i = 0; i < expression.children.size(); i += 2) {
    Value key = child(expression, i, scope);
    items.emplace_back(std::move(key), child(expression, i + 1, scope));
  }
  return make_mapping(runtime_, items);
}

Value Interpreter::evaluate_slice(const Expression& expression, const ScopePtr& scope) {
  const Value object = child(expression, 0, scope);
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    const auto& bound = expression.children[i + 1];
    bounds[i] = bound == nullptr ? Value::none() : evaluate(*bound, scope);
  }
  return get_slice(runtime_, object, bounds[0], bounds[1], bounds[2]);
}

// a < b < c compares neighbours and stops at the first that fails.
Value Interpreter::evaluate_comparison(const Expression& expression, const ScopePtr& scope) {
  Value left = child(expression, 0, scope);
  for (size_t i = 0; i < expression.comparisons.size(); ++i) {
    Value right = child(expression, i + 1, scope);
    if (!compare(runtime_, expression.comparisons[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_concatenation(const Expression& expression, const ScopePtr& scope) {
  std::string text;
  for (const auto& part : expression.children) {
    const Value value = evaluate(*part, scope);
    if (value.is(Kind::kText)) {
      runtime_.work(value.text().size());
      text += value.text();
    } else {
      text += to_text(runtime_, value);
    }
  }
  return make_text(runtime_, std::move(text));
}

Value Interpreter::evaluate_conditional(const Expression& expression, const ScopePtr& scope) {
  if (is_true(child(expression, 0, scope))) return child(expression, 1, scope);
  if (expression.children[2] != nullptr) return child(expression, 2, scope);
  return Value::undefined("the inline if is false and has no else");
}

Arguments Interpreter::evaluate_arguments(const Expression& expression, const ScopePtr& scope) {
  Arguments arguments;
  if (expression.arguments == nullptr) return arguments;
  const CallArguments& given = *expression.arguments;
  for (const auto& argument : given.positional) {
    arguments.positional.push_back(evaluate(*argument, scope));
  }
  for (const auto& [name, argument] : given.keyword) {
    arguments.keyword.emplace_back(name, evaluate(*argument, scope));
  }
  if (given.star != nullptr || given.double_star != nullptr) {
    add_star_arguments(given, scope, arguments);
  }
  return arguments;
}

void Interpreter::add_star_arguments(const CallArguments& given, const ScopePtr& scope,
                                     Arguments& arguments) {
  if (given.star != nullptr) {
    for (Value& item : collect(runtime_, evaluate(*given.star, scope))) {
      arguments.positional.push_back(std::move(item));
    }
  }
  if (given.double_star == nullptr) return;
  const Value mapping = evaluate(*given.double_star, scope);
  if (!mapping.is(Kind::kMapping)) fail("an argument after ** must be a mapping");
  for (const auto& [key, value] : mapping.as<Mapping>().items) {
    if (!key.is(Kind::kText)) fail("the keys of an argument after ** must be texts");
    for (const auto& known : arguments.keyword) {
      runtime_.step();
      if (known.first == key.text()) {
        fail(fmt::format("the argument '{}' is given twice", key.text()));
      }
    }
    arguments.keyword.emplace_back(key.text(), value);
  }
}

Value Interpreter::evaluate_call(const Expression& expression, const ScopePtr& scope,
                                 const Value* caller) {
  const Expression& target = *expression.children[0];
  Value object;  // of a method
  Value callee;
  const Method* method = nullptr;
  if (target.kind == ExpressionKind::kAttribute) {
    object = child(target, 0, scope);
    method = find_method(object, target.name);
    if (method == nullptr) callee = get_attribute(runtime_, object, target.name);
  } else {
    callee = evaluate(target, scope);
  }
  Arguments arguments = evaluate_arguments(expression, scope);
  if (caller != nullptr) arguments.keyword.emplace_back("caller", *caller);
  line_ = expression.line;
  Value result =
      method != nullptr ? method->call(runtime_, object, arguments) : call(callee, arguments);
  line_ = expression.line;
  return result;
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  require_defined(callee);
  if (callee.is(Kind::kCallable)) return callee.as<Callable>().call(runtime_, arguments);
  if (callee.is(Kind::kLoop)) return callee.as<Loop>().call(runtime_, arguments);
  fail(fmt::format("'{}' cannot be called", type_name(callee)));
}

Value Interpreter::evaluate_filter(const Expression& expression, const ScopePtr& scope,
                                   const Value* captured) {
  Value input;
  if (expression.children.empty()) {
    input = *captured;
  } else if (captured != nullptr && expression.children[0]->kind == ExpressionKind::kFilter) {
    input = evaluate_filter(*expression.children[0], scope, captured);
  } else {
    input = child(expression, 0, scope);
  }
  const Method* filter = find_filter(expression.name);
  line_ = expression.line;
  if (filter == nullptr) fail(unknown_filter(expression.name), FaultKind::kUnsupported);
  const Arguments arguments = evaluate_arguments(expression, scope);
  line_ = expression.line;
  return filter->call(runtime_, input, arguments);
}

Value Interpreter::evaluate_test(const Expression& expression, const ScopePtr& scope) {
  const Value input = child(expression, 0, scope);
  const IsTest* test = find_test(expression.name);
  line_ = expression.line;
  if (test == nullptr) {
    fail(fmt::format("there is no test '{}'", expression.name), FaultKind::kUnsupported);
  }
  const Arguments arguments = evaluate_arguments(expression, scope);
  return Value::boolean(test->call(runtime_, input, arguments));
}

}  // namespace lockstep::jinja
