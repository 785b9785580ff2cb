#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/fault.h"
#include "text/jinja/interpreter.h"

namespace lockstep::jinja {
namespace {

// Takes a keyword argument out of the rest; none where the caller did not give it.
std::optional<Value> take_keyword(Arguments& rest, std::string_view name) {
  const auto found = std::find_if(rest.keyword.begin(), rest.keyword.end(),
                                  [&](const auto& item) { return item.first == name; });
  if (found == rest.keyword.end()) return std::nullopt;
  Value value = std::move(found->second);
  rest.keyword.erase(found);
  return value;
}

}  // namespace

Value Interpreter::make_macro(const std::shared_ptr<Macro>& macro, const ScopePtr& scope) {
  runtime_.work(sizeof(Callable));
  runtime_.adopt(scope);  // the scope may hold the macro that holds the scope
  return make_callable(macro->name, [this, macro, scope](Runtime&, const Arguments& arguments) {
    return call_macro(*macro, scope, arguments);
  });
}

Value Interpreter::call_macro(const Macro& macro, const ScopePtr& closure,
                              const Arguments& arguments) {
  const DepthGuard guard(runtime_);
  const ScopePtr scope = inner_scope(closure);
  bind_parameters(macro, scope, arguments);
  std::string out;
  run_block(macro.body, scope, out);
  return make_text(runtime_, std::move(out));
}

void Interpreter::bind_parameters(const Macro& macro, const ScopePtr& scope, Arguments arguments) {
  const size_t by_position = std::min(arguments.positional.size(), macro.parameters.size());
  for (size_t i = 0; i < by_position; ++i) {
    scope->set(macro.parameters[i].name_id, std::move(arguments.positional[i]));
  }
  arguments.positional.erase(
      arguments.positional.begin(),
      arguments.positional.begin() + static_cast<std::ptrdiff_t>(by_position));
  std::vector<bool> given(macro.parameters.size(), false);
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    given[i] = i < by_position;
    if (given[i]) continue;
    const auto value = take_keyword(arguments, parameter.name);
    given[i] = value.has_value();
    const auto absent = [&] {
      return Value::undefined(fmt::format("parameter '{}' was not provided", parameter.name));
    };
    scope->set(parameter.name_id, value ? *value : absent());
  }
  bind_extras(macro, scope, arguments);
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    if (given[i] || parameter.fallback == nullptr) continue;
    scope->set(parameter.name_id, evaluate(*parameter.fallback, scope));
  }
}

// What the parameters left over: `caller`, `kwargs` and `varargs` where the body mentions them.
void Interpreter::bind_extras(const Macro& macro, const ScopePtr& scope, Arguments& rest) {
  if (macro.uses_caller) {
    const auto caller = take_keyword(rest, "caller");
    scope->set(kNameCaller, caller ? *caller : Value::undefined("no caller defined"));
  }
  if (macro.uses_kwargs) {
    MappingItems items;
    for (auto& [name, value] : rest.keyword) items.emplace_back(make_text(runtime_, name), value);
    scope->set(kNameKwargs, make_mapping(runtime_, items));
  } else if (!rest.keyword.empty()) {
    fail(fmt::format("macro '{}' takes no keyword argument '{}'", macro.name,
                     rest.keyword.front().first));
  }
  if (macro.uses_varargs) {
    scope->set(kNameVarargs, make_tuple(runtime_, rest.positional));
  } else if (!rest.positional.empty()) {
    fail(fmt::format("macro '{}' takes not more than {} arguments", macro.name,
                     macro.parameters.size()));
  }
}

}  // namespace lockstep::jinja
