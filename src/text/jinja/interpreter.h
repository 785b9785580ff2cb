// Runs a parsed template: one object per rendering.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/loop.h"
#include "text/jinja/runtime.h"
#include "text/jinja/scope.h"

namespace lockstep::jinja {

class Interpreter {
 public:
  // `globals` holds the caller's variables and the functions, by name number.
  Interpreter(const Document& document, Runtime& runtime, std::vector<std::optional<Value>> globals)
      : document_(document), runtime_(runtime), globals_(std::move(globals)) {}

  // Throws Fault; line() is then the line that was running.
  std::string run();
  int line() const { return line_; }

 private:
  enum class Flow : uint8_t { kNormal, kBreak, kContinue };

  // Statements write to `out` (statements.cc).
  Flow run_block(const Block& block, const ScopePtr& scope, std::string& out);
  Flow run_statement(const Statement& statement, const ScopePtr& scope, std::string& out);
  Flow run_if(const Statement& statement, const ScopePtr& scope, std::string& out);
  Flow run_for(const Statement& statement, const ScopePtr& scope, std::string& out);
  Flow run_with(const Statement& statement, const ScopePtr& scope, std::string& out);
  Flow run_set_block(const Statement& statement, const ScopePtr& scope);
  Flow run_filter_block(const Statement& statement, const ScopePtr& scope, std::string& out);
  void run_set(const Statement& statement, const ScopePtr& scope);
  void run_call_block(const Statement& statement, const ScopePtr& scope, std::string& out);
  Flow run_loop(const Statement& statement, const ScopePtr& scope, const Value& items, int depth0,
                std::string& out);
  Value render_recursively(const Statement& statement, const ScopePtr& scope, const Value& items,
                           int depth0);
  ScopePtr inner_scope(const ScopePtr& scope);
  void write(const Value& value, std::string& out);
  void write_text(std::string_view text, std::string& out);

  void assign(const Expression& target, const Value& value, const ScopePtr& scope);
  void assign_items(const Expression& target, const Value& value, const ScopePtr& scope);
  void require_namespaces(const Expression& target, const ScopePtr& scope);

  // Macros (macros.cc).
  Value make_macro(const std::shared_ptr<Macro>& macro, const ScopePtr& scope);
  Value call_macro(const Macro& macro, const ScopePtr& closure, const Arguments& arguments);
  void bind_parameters(const Macro& macro, const ScopePtr& scope, Arguments arguments);
  void bind_extras(const Macro& macro, const ScopePtr& scope, Arguments& rest);

  // Expressions (expressions.cc).
  Value evaluate(const Expression& expression, const ScopePtr& scope);
  Value evaluate_operator(const Expression& expression, const ScopePtr& scope);
  Value evaluate_name(const Expression& expression, const ScopePtr& scope);
  Value evaluate_list(const Expression& expression, const ScopePtr& scope);
  Value evaluate_mapping(const Expression& expression, const ScopePtr& scope);
  Value evaluate_slice(const Expression& expression, const ScopePtr& scope);
  Value evaluate_comparison(const Expression& expression, const ScopePtr& scope);
  Value evaluate_concatenation(const Expression& expression, const ScopePtr& scope);
  Value evaluate_conditional(const Expression& expression, const ScopePtr& scope);
  Value evaluate_call(const Expression& expression, const ScopePtr& scope, const Value* caller);
  Value evaluate_filter(const Expression& expression, const ScopePtr& scope, const Value* captured);
  Value evaluate_test(const Expression& expression, const ScopePtr& scope);
  Value child(const Expression& expression, size_t index, const ScopePtr& scope) {
    return evaluate(*expression.children[index], scope);
  }
  Value call(const Value& callee, const Arguments& arguments);
  Arguments evaluate_arguments(const Expression& expression, const ScopePtr& scope);
  void add_star_arguments(const CallArguments& given, const ScopePtr& scope, Arguments& arguments);

  const Document& document_;
  Runtime& runtime_;
  const std::vector<std::optional<Value>> globals_;
  int line_ = 0;

  friend class FilteredItems;
};

}  // namespace lockstep::jinja
