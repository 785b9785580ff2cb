// A parsed template: statements that hold expressions. Names are numbered, so that scopes need no
// text comparisons.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/operators.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind : uint8_t {
  kConstant,
  kName,
  kNamespaceAttribute,  // target of "set ns.x": name_id and name
  kTuple,
  kList,
  kMapping,    // children: key, value, key, value ...
  kAttribute,  // children: object
  kItem,       // children: object, key
  kSlice,      // children: object, start, stop, step; bounds may be null
  kCall,       // children: callee
  kFilter,     // children: input; none for what a block captured
  kTest,       // children: input
  kNegate,
  kPlus,
  kNot,
  kAnd,
  kOr,
  kBinary,
  kCompare,      // children: n + 1 operands of n comparisons
  kConcatenate,  // ~
  kConditional,  // children: condition, then, else; else may be null
};

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> keyword;
  ExpressionPtr star, double_star;  // *list, **mapping
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kConstant;
  int line = 0;
  int height = 1;  // longest path down the tree
  std::vector<ExpressionPtr> children;
  Value constant;
  int name_id = -1;
  std::string name;  // of a name, attribute, filter or test
  Binary binary = Binary::kAdd;
  std::vector<Comparison> comparisons;
  std::unique_ptr<CallArguments> arguments;  // of a call, filter or test; may be null
};

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Parameter {
  std::string name;
  int name_id = -1;
  ExpressionPtr fallback;  // null where the caller must give a value
};

struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  // What the body mentions beyond its parameters; decides what a call may pass.
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};

enum class StatementKind : uint8_t {
  kText,
  kOutput,       // expressions
  kIf,           // branches, otherwise
  kFor,          // target, value, condition (filter), body, otherwise
  kSet,          // target, value
  kSetBlock,     // target, value (filter or null), body
  kMacro,        // target, macro
  kCallBlock,    // value (the call), macro (its body)
  kFilterBlock,  // value, body
  kWith,         // bindings, body
  kGeneration,   // body: what the model is trained on; rendered as it stands
  kBreak,
  kContinue,
};

struct Branch {
  ExpressionPtr condition;
  Block body;
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  int line = 0;
  std::string text;
  std::vector<ExpressionPtr> expressions;
  std::vector<Branch> branches;
  ExpressionPtr target, value, condition;
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> bindings;
  bool recursive = false;
  Block body, otherwise;
  std::shared_ptr<Macro> macro;
};

// The names that every template knows by number.
enum KnownName : int { kNameLoop, kNameCaller, kNameVarargs, kNameKwargs, kKnownNames };

struct Document {
  Block body;
  std::vector<std::string> names;  // by number
};

}  // namespace lockstep::jinja
