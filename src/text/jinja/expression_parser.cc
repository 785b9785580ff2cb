#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/fault.h"
#include "text/jinja/parser.h"

namespace lockstep::jinja {

ExpressionPtr Parser::node(ExpressionKind kind, int line) const {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = line;
  return expression;
}

ExpressionPtr Parser::constant(Value value, int line) const {
  auto expression = node(ExpressionKind::kConstant, line);
  expression->constant = std::move(value);
  return expression;
}

ExpressionPtr Parser::finish(ExpressionPtr node) const {
  int below = 0;
  const auto look = [&](const ExpressionPtr& child) {
    if (child != nullptr) below = std::max(below, child->height);
  };
  for (const auto& child : node->children) look(child);
  if (node->arguments != nullptr) {
    for (const auto& argument : node->arguments->positional) look(argument);
    for (const auto& [name, argument] : node->arguments->keyword) look(argument);
    look(node->arguments->star);
    look(node->arguments->double_star);
  }
  node->height = below + 1;
  if (node->height > limits_.expression_height) {
    fail_at(node->line,
            fmt::format("an expression has more than {} operations inside one another",
                        limits_.expression_height),
            FaultKind::kLimit);
  }
  return node;
}

bool Parser::at_tuple_end(std::string_view end_name) const {
  if (at_kind(TokenKind::kVariableEnd) || at_kind(TokenKind::kBlockEnd) || at_operator(")")) {
    return true;
  }
  return !end_name.empty() && at_name(end_name);
}

ExpressionPtr Parser::parse_tuple(bool conditional, std::string_view end_name, bool parenthesized) {
  const int line = current().line;
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!at_tuple_end(end_name)) {
    items.push_back(parse_expression(conditional));
    if (!skip_operator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items.front());
  if (!is_tuple && !parenthesized) fail_expected("an expression");
  auto tuple = node(ExpressionKind::kTuple, line);
  tuple->children = std::move(items);
  return finish(std::move(tuple));
}

ExpressionPtr Parser::parse_expression(bool conditional) {
  const NestingGuard guard(*this);
  return conditional ? parse_conditional() : parse_or();
}

ExpressionPtr Parser::parse_conditional() {
  auto value = parse_or();
  while (at_name("if")) {
    auto choice = node(ExpressionKind::kConditional, take().line);
    choice->children.push_back(parse_or());
    choice->children.push_back(std::move(value));
    if (skip_name("else")) {
      const NestingGuard guard(*this);
      choice->children.push_back(parse_conditional());
    } else {
      choice->children.push_back(nullptr);
    }
    value = finish(std::move(choice));
  }
  return value;
}

ExpressionPtr Parser::parse_or() {
  return parse_chain("or", ExpressionKind::kOr, &Parser::parse_and);
}

ExpressionPtr Parser::parse_and() {
  return parse_chain("and", ExpressionKind::kAnd, &Parser::parse_not);
}

ExpressionPtr Parser::parse_chain(std::string_view name, ExpressionKind kind,
                                  ExpressionPtr (Parser::*parse_operand)()) {
  auto left = (this->*parse_operand)();
  while (at_name(name)) {
    auto both = node(kind, take().line);
    both->children.push_back(std::move(left));
    both->children.push_back((this->*parse_operand)());
    left = finish(std::move(both));
  }
  return left;
}

ExpressionPtr Parser::parse_not() {
  if (!at_name("not")) return parse_comparison();
  const NestingGuard guard(*this);
  auto negation = node(ExpressionKind::kNot, take().line);
  negation->children.push_back(parse_not());
  return finish(std::move(negation));
}

bool Parser::read_comparison(Comparison& op) {
  static constexpr std::pair<std::string_view, Comparison> kOperators[] = {
      {"==", Comparison::kEqual},  {"!=", Comparison::kNotEqual},
      {"<", Comparison::kLess},    {"<=", Comparison::kLessEqual},
      {">", Comparison::kGreater}, {">=", Comparison::kGreaterEqual},
  };
  for (const auto& [text, comparison] : kOperators) {
    if (skip_operator(text)) return op = comparison, true;
  }
  if (skip_name("in")) return op = Comparison::kIn, true;
  if (at_name("not") && ahead().kind == TokenKind::kName && ahead().text == "in") {
    take();
    take();
    return op = Comparison::kNotIn, true;
  }
  return false;
}

ExpressionPtr Parser::parse_comparison() {
  const int line = current().line;
  auto first = parse_sum();
  Comparison op = Comparison::kEqual;
  if (!read_comparison(op)) return first;
  auto comparison = node(ExpressionKind::kCompare, line);
  comparison->children.push_back(std::move(first));
  do {
    comparison->comparisons.push_back(op);
    comparison->children.push_back(parse_sum());
  } while (read_comparison(op));
  return finish(std::move(comparison));
}

ExpressionPtr Parser::parse_sum() {
  auto left = parse_concatenation();
  while (at_operator("+") || at_operator("-")) {
    auto sum = node(ExpressionKind::kBinary, current().line);
    sum->binary = take().text == "+" ? Binary::kAdd : Binary::kSubtract;
    sum->children.push_back(std::move(left));
    sum->children.push_back(parse_concatenation());
    left = finish(std::move(sum));
  }
  return left;
}

ExpressionPtr Parser::parse_concatenation() {
  auto first = parse_product();
  if (!at_operator("~")) return first;
  auto chain = node(ExpressionKind::kConcatenate, current().line);
  chain->children.push_back(std::move(first));
  while (skip_operator("~")) chain->children.push_back(parse_product());
  return finish(std::move(chain));
}

ExpressionPtr Parser::parse_product() {
  static constexpr std::pair<std::string_view, Binary> kOperators[] = {
      {"*", Binary::kMultiply},
      {"/", Binary::kDivide},
      {"//", Binary::kFloorDivide},
      {"%", Binary::kModulo},
  };
  auto left = parse_power();
  while (true) {
    const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                     [this](const auto& op) { return at_operator(op.first); });
    if (found == std::end(kOperators)) return left;
    auto product = node(ExpressionKind::kBinary, take().line);
    product->binary = found->second;
    product->children.push_back(std::move(left));
    product->children.push_back(parse_power());
    left = finish(std::move(product));
  }
}

ExpressionPtr Parser::parse_power() {
  auto left = parse_unary();
  while (at_operator("**")) {
    auto power = node(ExpressionKind::kBinary, take().line);
    power->binary = Binary::kPower;
    power->children.push_back(std::move(left));
    power->children.push_back(parse_unary());
    left = finish(std::move(power));
  }
  return left;
}

ExpressionPtr Parser::parse_unary(bool filters) {
  const NestingGuard guard(*this);
  ExpressionPtr operand;
  if (at_operator("-") || at_operator("+")) {
    const bool minus = at_operator("-");
    operand = node(minus ? ExpressionKind::kNegate : ExpressionKind::kPlus, take().line);
    operand->children.push_back(parse_unary(false));
    operand = finish(std::move(operand));
  } else {
    operand = parse_primary();
  }
  operand = parse_postfix(std::move(operand));
  return filters ? parse_filters_and_tests(std::move(operand)) : std::move(operand);
}

ExpressionPtr Parser::parse_primary() {
  const int line = current().line;
  switch (current().kind) {
    case TokenKind::kName:
      return parse_name();
    case TokenKind::kString: {
      std::string text;
      while (at_kind(TokenKind::kString)) text += take().text;
      return constant(Value::literal(std::move(text)), line);
    }
    case TokenKind::kInteger:
      return constant(Value::integer(take().integer), line);
    case TokenKind::kFloat:
      return constant(Value::number(take().number), line);
    default:
      break;
  }
  if (skip_operator("(")) {
    auto inner = parse_tuple(true, {}, true);
    expect_operator(")");
    return inner;
  }
  if (at_operator("[")) return parse_list();
  if (at_operator("{")) return parse_mapping();
  fail_expected("an expression");
}

ExpressionPtr Parser::parse_name() {
  const Token token = take();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return constant(Value::boolean(true), token.line);
  if (name == "false" || name == "False") return constant(Value::boolean(false), token.line);
  if (name == "none" || name == "None") return constant(Value::none(), token.line);
  auto expression = node(ExpressionKind::kName, token.line);
  expression->name = name;
  expression->name_id = name_id(name);
  return expression;
}

ExpressionPtr Parser::parse_list() {
  auto list = node(ExpressionKind::kList, take().line);
  while (!at_operator("]")) {
    if (!list->children.empty()) {
      expect_operator(",");
      if (at_operator("]")) break;
    }
    list->children.push_back(parse_expression());
  }
  expect_operator("]");
  return finish(std::move(list));
}

ExpressionPtr Parser::parse_mapping() {
  auto mapping = node(ExpressionKind::kMapping, take().line);
  while (!at_operator("}")) {
    if (!mapping->children.empty()) {
      expect_operator(",");
      if (at_operator("}")) break;
    }
    mapping->children.push_back(parse_expression());
    expect_operator(":");
    mapping->children.push_back(parse_expression());
  }
  expect_operator("}");
  return finish(std::move(mapping));
}

ExpressionPtr Parser::parse_postfix(ExpressionPtr node) {
  while (true) {
    if (at_operator(".") || at_operator("[")) {
      node = parse_subscript(std::move(node));
    } else if (at_operator("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr Parser::parse_filters_and_tests(ExpressionPtr node) {
  while (true) {
    if (at_operator("|")) {
      node = parse_filter_chain(std::move(node), false);
    } else if (at_name("is")) {
      node = parse_test(std::move(node));
    } else if (at_operator("(")) {
      node = parse_call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr object) {
  if (at_operator("[")) return parse_item(std::move(object));
  const int line = take().line;
  if (at_kind(TokenKind::kInteger)) {
    auto item = node(ExpressionKind::kItem, line);
    item->children.push_back(std::move(object));
    item->children.push_back(constant(Value::integer(take().integer), line));
    return finish(std::move(item));
  }
  auto attribute = node(ExpressionKind::kAttribute, line);
  attribute->name = take_name();
  attribute->children.push_back(std::move(object));
  return finish(std::move(attribute));
}

ExpressionPtr Parser::parse_item(ExpressionPtr object) {
  const int line = take().line;
  std::vector<ExpressionPtr> bounds;
  bool is_slice = false;
  const auto parse_bound = [&] {
    const bool absent = at_operator(":") || at_operator("]") || at_operator(",");
    bounds.push_back(absent ? nullptr : parse_expression());
  };
  if (at_operator("]")) return parse_tuple_index(std::move(object), {}, line);
  if (at_operator(",")) fail_expected("an index");
  parse_bound();
  while (bounds.size() < 3 && skip_operator(":")) {
    is_slice = true;
    parse_bound();
  }
  if (at_operator(",")) {
    if (is_slice)
      fail_at(line, "several slices at once are not supported", FaultKind::kUnsupported);
    return parse_tuple_index(std::move(object), std::move(bounds), line);
  }
  expect_operator("]");
  if (is_slice) bounds.resize(3);
  auto item = node(is_slice ? ExpressionKind::kSlice : ExpressionKind::kItem, line);
  item->children.push_back(std::move(object));
  for (auto& bound : bounds) item->children.push_back(std::move(bound));
  return finish(std::move(item));
}

// object[a, b]: the key is a tuple.
ExpressionPtr Parser::parse_tuple_index(ExpressionPtr object, std::vector<ExpressionPtr> parts,
                                        int line) {
  while (skip_operator(",")) parts.push_back(parse_expression());
  expect_operator("]");
  auto key = node(ExpressionKind::kTuple, line);
  key->children = std::move(parts);
  auto item = node(ExpressionKind::kItem, line);
  item->children.push_back(std::move(object));
  item->children.push_back(finish(std::move(key)));
  return finish(std::move(item));
}

std::unique_ptr<CallArguments> Parser::parse_arguments() {
  const int line = current().line;
  expect_operator("(");
  auto arguments = std::make_unique<CallArguments>();
  const auto require = [line](bool valid) {
    if (!valid) fail_at(line, "the arguments of a call are out of order");
  };
  for (bool first = true; !at_operator(")"); first = false) {
    if (!first) {
      expect_operator(",");
      if (at_operator(")")) break;
    }
    const bool keyword =
        at_kind(TokenKind::kName) && ahead().kind == TokenKind::kOperator && ahead().text == "=";
    if (skip_operator("*")) {
      require(!arguments->star && !arguments->double_star);
      arguments->star = parse_expression();
    } else if (skip_operator("**")) {
      require(!arguments->double_star);
      arguments->double_star = parse_expression();
    } else if (keyword) {
      require(!arguments->double_star);
      const std::string name = take().text;
      take();
      for (const auto& known : arguments->keyword) require(known.first != name);
      arguments->keyword.emplace_back(name, parse_expression());
    } else {
      require(!arguments->star && !arguments->double_star && arguments->keyword.empty());
      arguments->positional.push_back(parse_expression());
    }
  }
  expect_operator(")");
  return arguments;
}

ExpressionPtr Parser::parse_call(ExpressionPtr callee) {
  auto call = node(ExpressionKind::kCall, current().line);
  call->children.push_back(std::move(callee));
  call->arguments = parse_arguments();
  return finish(std::move(call));
}

std::string Parser::dotted_name() {
  std::string name = take_name();
  while (skip_operator(".")) name += "." + take_name();
  return name;
}

ExpressionPtr Parser::parse_filter(ExpressionPtr input) {
  auto filter = node(ExpressionKind::kFilter, current().line);
  filter->name = dotted_name();
  if (at_operator("(")) filter->arguments = parse_arguments();
  if (input != nullptr) filter->children.push_back(std::move(input));
  return finish(std::move(filter));
}

ExpressionPtr Parser::parse_filter_chain(ExpressionPtr input, bool started) {
  if (started) input = parse_filter(std::move(input));
  while (skip_operator("|")) input = parse_filter(std::move(input));
  return input;
}

bool Parser::at_test_argument() const {
  switch (current().kind) {
    case TokenKind::kString:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return true;
    case TokenKind::kName:
      return !at_name("else") && !at_name("or") && !at_name("and");
    default:
      return at_operator("[") || at_operator("{");
  }
}

ExpressionPtr Parser::parse_test(ExpressionPtr input) {
  const int line = take().line;
  const bool negated = skip_name("not");
  auto test = node(ExpressionKind::kTest, line);
  test->name = dotted_name();
  test->children.push_back(std::move(input));
  if (at_operator("(")) {
    test->arguments = parse_arguments();
  } else if (at_test_argument()) {
    if (at_name("is")) fail_at(line, "tests with 'is' cannot be chained");
    test->arguments = std::make_unique<CallArguments>();
    test->arguments->positional.push_back(parse_postfix(parse_primary()));
  }
  test = finish(std::move(test));
  if (!negated) return test;
  auto negation = node(ExpressionKind::kNot, line);
  negation->children.push_back(std::move(test));
  return finish(std::move(negation));
}

}  // namespace lockstep::jinja
