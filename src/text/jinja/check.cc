#include "text/jinja/check.h"

#include <fmt/format.h>

#include <set>

#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/is_tests.h"

namespace lockstep::jinja {
namespace {

struct Place {
  bool in_loop = false;    // break and continue have a loop to act on
  bool under_for = false;  // some enclosing block is a for, macros between or not
  bool soft = false;       // under an if: unknown filters only fail when reached
};

class Checker {
 public:
  void check_block(const Block& block, Place place) {
    for (const auto& statement : block) check_statement(*statement, place);
  }

 private:
  void check_statement(const Statement& statement, Place place) {
    const Place inner = {place.in_loop, place.under_for, false};
    switch (statement.kind) {
      case StatementKind::kText:
        return;
      case StatementKind::kOutput:
        for (const auto& expression : statement.expressions) check_expression(*expression, place);
        return;
      case StatementKind::kIf:
        return check_if(statement, place);
      case StatementKind::kFor:
        return check_for(statement, place);
      case StatementKind::kSet:
        check_target(*statement.target, place);
        return check_expression(*statement.value, place);
      case StatementKind::kSetBlock:
        check_target(*statement.target, place);
        check_optional(statement.value, inner);
        return check_block(statement.body, inner);
      case StatementKind::kMacro:
        return check_macro(*statement.macro, place, statement.line);
      case StatementKind::kCallBlock:
        check_expression(*statement.value, place);
        return check_macro(*statement.macro, place, statement.line);
      case StatementKind::kFilterBlock:
        check_expression(*statement.value, inner);
        return check_block(statement.body, inner);
      case StatementKind::kWith:
        for (const auto& [target, value] : statement.bindings) check_expression(*value, place);
        return check_block(statement.body, inner);
      case StatementKind::kGeneration:
        return check_block(statement.body, {false, place.under_for, false});
      case StatementKind::kBreak:
      case StatementKind::kContinue:
        if (!place.in_loop) fail_at(statement.line, "break and continue need a loop around them");
        return;
    }
  }

  void check_if(const Statement& statement, Place place) {
    place.soft = true;
    for (const Branch& branch : statement.branches) {
      check_expression(*branch.condition, place);
      check_block(branch.body, place);
    }
    check_block(statement.otherwise, place);
  }

  void check_for(const Statement& statement, Place place) {
    check_expression(*statement.value, place);
    check_target(*statement.target, {true, true, false});
    check_optional(statement.condition, {true, true, false});
    check_block(statement.body, {true, true, false});
    check_block(statement.otherwise, {place.in_loop && !statement.recursive, true, false});
  }

  void check_macro(Macro& macro, Place place, int line) {
    std::set<std::string> names;
    for (const Parameter& parameter : macro.parameters) {
      if (!names.insert(parameter.name).second) {
        fail_at(line, fmt::format("the parameter '{}' occurs twice", parameter.name));
      }
    }
    macros_.push_back(&macro);
    const Place inside = {false, place.under_for, false};
    for (const Parameter& parameter : macro.parameters) check_optional(parameter.fallback, inside);
    check_block(macro.body, inside);
    macros_.pop_back();
    macro.uses_caller = macro.uses_caller && !names.contains("caller");
    macro.uses_varargs = macro.uses_varargs && !names.contains("varargs");
    macro.uses_kwargs = macro.uses_kwargs && !names.contains("kwargs");
  }

  static void check_target(const Expression& target, Place place) {
    for (const auto& child : target.children) check_target(*child, place);
    if (place.under_for && target.kind == ExpressionKind::kName && target.name_id == kNameLoop) {
      fail_at(target.line, "cannot assign to the special variable 'loop' inside a for");
    }
  }

  void check_optional(const ExpressionPtr& expression, Place place) {
    if (expression != nullptr) check_expression(*expression, place);
  }

  void note_name(int name_id) {
    for (Macro* macro : macros_) {
      macro->uses_caller |= name_id == kNameCaller;
      macro->uses_varargs |= name_id == kNameVarargs;
      macro->uses_kwargs |= name_id == kNameKwargs;
    }
  }

  void check_expression(const Expression& expression, Place place) {
    if (expression.kind == ExpressionKind::kName) note_name(expression.name_id);
    if (expression.kind == ExpressionKind::kConditional) place.soft = true;
    const bool is_filter = expression.kind == ExpressionKind::kFilter;
    if (!place.soft && is_filter && find_filter(expression.name) == nullptr) {
      fail_at(expression.line, unknown_filter(expression.name), FaultKind::kUnsupported);
    }
    if (!place.soft && expression.kind == ExpressionKind::kTest &&
        find_test(expression.name) == nullptr) {
      fail_at(expression.line, fmt::format("there is no test '{}'", expression.name),
              FaultKind::kUnsupported);
    }
    for (const auto& child : expression.children) check_optional(child, place);
    if (expression.arguments == nullptr) return;
    for (const auto& argument : expression.arguments->positional)
      check_expression(*argument, place);
    for (const auto& [name, argument] : expression.arguments->keyword) {
      check_expression(*argument, place);
    }
    check_optional(expression.arguments->star, place);
    check_optional(expression.arguments->double_star, place);
  }

  std::vector<Macro*> macros_;
};

}  // namespace

void check(Document& document) { Checker().check_block(document.body, {}); }

}  // namespace lockstep::jinja
