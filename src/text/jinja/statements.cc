#include <fmt/format.h>

#include "text/jinja/attributes.h"
#include "text/jinja/fault.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/repr.h"

namespace lockstep::jinja {

// The items of "for ... if condition", tested one at a time as the loop asks for them.
class FilteredItems : public Iterator {
 public:
  FilteredItems(Interpreter& interpreter, const Statement& statement, ScopePtr scope,
                std::shared_ptr<Iterator> source)
      : interpreter_(interpreter),
        statement_(statement),
        scope_(std::move(scope)),
        source_(std::move(source)) {
    depth = source_->depth;
  }

  bool next(Runtime& runtime, Value& item) override {
    while (source_->next(runtime, item)) {
      const ScopePtr inner = interpreter_.inner_scope(scope_);
      interpreter_.assign(*statement_.target, item, inner);
      if (!is_true(interpreter_.evaluate(*statement_.condition, inner))) continue;
      // Jinja passes on what the target makes of the item: a tuple, whatever the item was.
      item = interpreter_.evaluate(*statement_.target, inner);
      return true;
    }
    return false;
  }

 private:
  Interpreter& interpreter_;
  const Statement& statement_;
  const ScopePtr scope_;
  const std::shared_ptr<Iterator> source_;
};

std::string Interpreter::run() {
  std::string out;
  const auto scope = std::make_shared<Scope>(nullptr);
  run_block(document_.body, scope, out);
  return out;
}

Interpreter::Flow Interpreter::run_block(const Block& block, const ScopePtr& scope,
                                         std::string& out) {
  const DepthGuard guard(runtime_);
  for (const auto& statement : block) {
    const Flow flow = run_statement(*statement, scope, out);
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::run_statement(const Statement& statement, const ScopePtr& scope,
                                             std::string& out) {
  runtime_.step();
  line_ = statement.line;
  switch (statement.kind) {
    case StatementKind::kText:
      write_text(statement.text, out);
      return Flow::kNormal;
    case StatementKind::kOutput:
      for (const auto& expression : statement.expressions) {
        write(evaluate(*expression, scope), out);
      }
      return Flow::kNormal;
    case StatementKind::kIf:
      return run_if(statement, scope, out);
    case StatementKind::kFor:
      return run_for(statement, scope, out);
    case StatementKind::kSet:
      run_set(statement, scope);
      return Flow::kNormal;
    case StatementKind::kSetBlock:
      return run_set_block(statement, scope);
    case StatementKind::kMacro:
      scope->set(statement.target->name_id, make_macro(statement.macro, scope));
      return Flow::kNormal;
    case StatementKind::kCallBlock:
      run_call_block(statement, scope, out);
      return Flow::kNormal;
    case StatementKind::kFilterBlock:
      return run_filter_block(statement, scope, out);
    case StatementKind::kWith:
      return run_with(statement, scope, out);
    case StatementKind::kGeneration:
      return run_block(statement.body, inner_scope(scope), out);
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement, const ScopePtr& scope,
                                      std::string& out) {
  for (const Branch& branch : statement.branches) {
    if (is_true(evaluate(*branch.condition, scope))) return run_block(branch.body, scope, out);
  }
  return run_block(statement.otherwise, scope, out);
}

Interpreter::Flow Interpreter::run_for(const Statement& statement, const ScopePtr& scope,
                                       std::string& out) {
  const Value items = evaluate(*statement.value, scope);
  return run_loop(statement, scope, items, 0, out);
}

Interpreter::Flow Interpreter::run_loop(const Statement& statement, const ScopePtr& scope,
                                        const Value& items, int depth0, std::string& out) {
  std::shared_ptr<Iterator> source = iterate(runtime_, items);
  int64_t length = length_of(runtime_, items);
  if (statement.condition != nullptr) {
    source = std::make_shared<FilteredItems>(*this, statement, scope, std::move(source));
    length = -1;
  }
  runtime_.work(sizeof(Loop));
  container_depth(runtime_, source->depth);
  const auto loop = std::make_shared<Loop>(std::move(source), length, depth0);
  if (statement.recursive) {
    loop->set_recurse([this, &statement, scope](Runtime&, const Value& inner, int inner_depth0) {
      return render_recursively(statement, scope, inner, inner_depth0);
    });
  }
  ScopePtr body_scope = inner_scope(scope);
  bool finished_one = false;  // continue and break do not count, as in Jinja
  Value item;
  while (loop->advance(runtime_, item)) {
    if (body_scope.use_count() > 1) body_scope = inner_scope(scope);  // a macro holds it
    body_scope->clear();
    assign(*statement.target, item, body_scope);
    body_scope->set(kNameLoop, Value(Kind::kLoop, loop));
    const Flow flow = run_block(statement.body, body_scope, out);
    if (flow == Flow::kBreak) break;
    if (flow == Flow::kNormal) finished_one = true;
  }
  if (finished_one || statement.otherwise.empty()) return Flow::kNormal;
  return run_block(statement.otherwise, inner_scope(scope), out);
}

Value Interpreter::render_recursively(const Statement& statement, const ScopePtr& scope,
                                      const Value& items, int depth0) {
  const DepthGuard guard(runtime_);
  std::string out;
  run_loop(statement, scope, items, depth0, out);
  return make_text(runtime_, std::move(out));
}

Interpreter::Flow Interpreter::run_with(const Statement& statement, const ScopePtr& scope,
                                        std::string& out) {
  const ScopePtr inner = inner_scope(scope);
  for (const auto& [target, value] : statement.bindings) {
    assign(*target, evaluate(*value, scope), inner);
  }
  return run_block(statement.body, inner, out);
}

void Interpreter::run_set(const Statement& statement, const ScopePtr& scope) {
  require_namespaces(*statement.target, scope);
  assign(*statement.target, evaluate(*statement.value, scope), scope);
}

Interpreter::Flow Interpreter::run_set_block(const Statement& statement, const ScopePtr& scope) {
  std::string text;
  const ScopePtr inner = inner_scope(scope);
  const Flow flow = run_block(statement.body, inner, text);
  if (flow != Flow::kNormal) return flow;
  line_ = statement.line;
  Value value = make_text(runtime_, std::move(text));
  if (statement.value != nullptr) value = evaluate_filter(*statement.value, inner, &value);
  assign(*statement.target, value, scope);
  return flow;
}

Interpreter::Flow Interpreter::run_filter_block(const Statement& statement, const ScopePtr& scope,
                                                std::string& out) {
  std::string text;
  const ScopePtr inner = inner_scope(scope);
  const Flow flow = run_block(statement.body, inner, text);
  if (flow != Flow::kNormal) return flow;
  line_ = statement.line;
  const Value value = make_text(runtime_, std::move(text));
  write(evaluate_filter(*statement.value, inner, &value), out);
  return flow;
}

void Interpreter::run_call_block(const Statement& statement, const ScopePtr& scope,
                                 std::string& out) {
  const Value caller = make_macro(statement.macro, scope);
  write(evaluate_call(*statement.value, scope, &caller), out);
}

ScopePtr Interpreter::inner_scope(const ScopePtr& scope) {
  runtime_.work(sizeof(Scope));
  return std::make_shared<Scope>(scope);
}

void Interpreter::write(const Value& value, std::string& out) {
  if (value.is(Kind::kText)) return write_text(value.text(), out);
  write_text(to_text(runtime_, value), out);
}

void Interpreter::write_text(std::string_view text, std::string& out) {
  const size_t limit = runtime_.limits().output_bytes;
  if (text.size() > limit - out.size()) {
    fail(fmt::format("it writes more than {} bytes", limit), FaultKind::kLimit);
  }
  runtime_.work(text.size());
  out += text;
}

void Interpreter::assign(const Expression& target, const Value& value, const ScopePtr& scope) {
  switch (target.kind) {
    case ExpressionKind::kName:
      return scope->set(target.name_id, value);
    case ExpressionKind::kNamespaceAttribute: {
      const Value* space = scope->find(runtime_, target.name_id);
      return set_attribute(runtime_, space == nullptr ? Value() : *space, target.name, value);
    }
    default:
      return assign_items(target, value, scope);
  }
}

void Interpreter::assign_items(const Expression& target, const Value& value,
                               const ScopePtr& scope) {
  const auto iterator = iterate(runtime_, value);
  std::vector<Value> items(target.children.size());
  for (Value& item : items) {
    if (!iterator->next(runtime_, item)) {
      fail(fmt::format("not enough values to unpack: {} expected", items.size()));
    }
  }
  Value extra;
  if (iterator->next(runtime_, extra)) {
    fail(fmt::format("too many values to unpack: {} expected", items.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) assign(*target.children[i], items[i], scope);
}

void Interpreter::require_namespaces(const Expression& target, const ScopePtr& scope) {
  for (const auto& item : target.children) require_namespaces(*item, scope);
  if (target.kind != ExpressionKind::kNamespaceAttribute) return;
  const Value* space = scope->find(runtime_, target.name_id);
  if (space == nullptr || !space->is(Kind::kNamespace)) {
    fail("cannot assign attribute on non-namespace object");
  }
}

}  // namespace lockstep::jinja
