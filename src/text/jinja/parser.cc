// Statements. Expressions are in expression_parser.cc.
#include "text/jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/check.h"
#include "text/jinja/fault.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kData:
      return "text";
    case TokenKind::kVariableBegin:
      return "'{{'";
    case TokenKind::kVariableEnd:
      return "'}}'";
    case TokenKind::kBlockBegin:
      return "'{%'";
    case TokenKind::kBlockEnd:
      return "'%}'";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return "a number";
    case TokenKind::kName:
    case TokenKind::kOperator:
      return "'" + token.text + "'";
    case TokenKind::kEnd:
      return "the end of the template";
  }
  return "";
}

}  // namespace

NestingGuard::NestingGuard(Parser& parser) : parser_(parser) {
  if (++parser_.nesting_ > parser_.limits_.nesting) {
    --parser_.nesting_;
    fail_at(parser_.current().line,
            fmt::format("the template is nested more than {} deep", parser_.limits_.nesting),
            FaultKind::kLimit);
  }
}

Document parse(std::string_view source, const Limits& limits) {
  if (source.size() > limits.source_bytes) {
    fail_at(1,
            fmt::format("the template has {} bytes, more than the {} allowed", source.size(),
                        limits.source_bytes),
            FaultKind::kLimit);
  }
  if (!is_valid_utf8(source)) fail_at(1, "the template is not valid UTF-8");
  Document document = Parser(tokenize(source), limits).run();
  check(document);
  return document;
}

Parser::Parser(std::vector<Token> tokens, const Limits& limits)
    : tokens_(std::move(tokens)), limits_(limits) {
  for (const char* name : {"loop", "caller", "varargs", "kwargs"}) name_id(name);
}

Document Parser::run() {
  Document document;
  document.body = parse_until({}, "", 1);
  document.names = std::move(names_);
  return document;
}

const Token& Parser::ahead() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }

Token Parser::take() {
  const Token& token = current();
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool Parser::at_operator(std::string_view text) const {
  return at_kind(TokenKind::kOperator) && current().text == text;
}

bool Parser::at_name(std::string_view text) const {
  return at_kind(TokenKind::kName) && current().text == text;
}

bool Parser::skip_operator(std::string_view text) {
  if (!at_operator(text)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view text) {
  if (!at_name(text)) return false;
  take();
  return true;
}

void Parser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) fail_expected(fmt::format("'{}'", text));
}

void Parser::expect_name(std::string_view text) {
  if (!skip_name(text)) fail_expected(fmt::format("'{}'", text));
}

void Parser::expect_block_end() {
  if (!at_kind(TokenKind::kBlockEnd)) fail_expected("'%}'");
  take();
}

std::string Parser::take_name() {
  if (!at_kind(TokenKind::kName)) fail_expected("a name");
  return take().text;
}

void Parser::fail_expected(std::string_view expected) const {
  fail_at(current().line, fmt::format("expected {}, found {}", expected, describe(current())));
}

Block Parser::parse_until(const EndTags& ends, std::string_view opened_by, int opened_at) {
  const NestingGuard guard(*this);
  Block block;
  while (!at_kind(TokenKind::kEnd)) {
    if (at_kind(TokenKind::kBlockBegin)) {
      take();
      const bool ended = at_kind(TokenKind::kName) &&
                         std::find(ends.begin(), ends.end(), current().text) != ends.end();
      if (ended) return block;
      block.push_back(parse_statement());
      expect_block_end();
    } else {
      append_output(block);
    }
  }
  if (!ends.empty()) {
    fail_at(current().line, fmt::format("the block '{}' that begins on line {} has no '{}'",
                                        opened_by, opened_at, ends.back()));
  }
  return block;
}

Block Parser::parse_body(const EndTags& ends, std::string_view opened_by, int opened_at) {
  skip_operator(":");
  expect_block_end();
  return parse_until(ends, opened_by, opened_at);
}

Block Parser::parse_last_body(std::string_view end, std::string_view opened_by, int opened_at) {
  Block block = parse_body({end}, opened_by, opened_at);
  take();
  return block;
}

void Parser::append_output(Block& block) {
  if (at_kind(TokenKind::kData)) {
    auto statement = begin(StatementKind::kText);
    statement->text = take().text;
    block.push_back(std::move(statement));
    return;
  }
  if (!at_kind(TokenKind::kVariableBegin)) fail_expected("text or a tag");
  take();
  auto statement = begin(StatementKind::kOutput);
  statement->expressions.push_back(parse_tuple(true));
  if (!at_kind(TokenKind::kVariableEnd)) fail_expected("'}}'");
  take();
  block.push_back(std::move(statement));
}

std::unique_ptr<Statement> Parser::begin(StatementKind kind) {
  auto statement = std::make_unique<Statement>();
  statement->kind = kind;
  statement->line = current().line;
  return statement;
}

std::unique_ptr<Statement> Parser::parse_statement() {
  using Parse = std::unique_ptr<Statement> (Parser::*)();
  static constexpr std::pair<std::string_view, Parse> kStatements[] = {
      {"for", &Parser::parse_for},         {"if", &Parser::parse_if},
      {"set", &Parser::parse_set},         {"macro", &Parser::parse_macro},
      {"call", &Parser::parse_call_block}, {"filter", &Parser::parse_filter_block},
      {"with", &Parser::parse_with},       {"generation", &Parser::parse_generation},
      {"print", &Parser::parse_print},
  };
  static constexpr std::string_view kUnsupported[] = {"block",  "extends", "include",
                                                      "import", "from",    "autoescape"};
  if (!at_kind(TokenKind::kName)) fail_expected("the name of a tag");
  const std::string& tag = current().text;
  for (const auto& [name, parse] : kStatements) {
    if (tag == name) return (this->*parse)();
  }
  if (tag == "break" || tag == "continue") {
    auto statement = begin(tag == "break" ? StatementKind::kBreak : StatementKind::kContinue);
    take();
    return statement;
  }
  if (std::find(std::begin(kUnsupported), std::end(kUnsupported), tag) != std::end(kUnsupported)) {
    fail_at(current().line, fmt::format("the tag '{}' is not supported", tag),
            FaultKind::kUnsupported);
  }
  fail_at(current().line, fmt::format("unknown tag '{}'", tag));
}

std::unique_ptr<Statement> Parser::parse_for() {
  auto statement = begin(StatementKind::kFor);
  take();
  statement->target = parse_target(false, "in");
  expect_name("in");
  statement->value = parse_tuple(false, "recursive");
  if (skip_name("if")) statement->condition = parse_expression();
  statement->recursive = skip_name("recursive");
  statement->body = parse_body({"else", "endfor"}, "for", statement->line);
  if (take().text == "else") {
    statement->otherwise = parse_last_body("endfor", "for", statement->line);
  }
  return statement;
}

std::unique_ptr<Statement> Parser::parse_if() {
  auto statement = begin(StatementKind::kIf);
  take();
  while (true) {
    Branch branch;
    branch.condition = parse_tuple(false);
    branch.body = parse_body({"elif", "else", "endif"}, "if", statement->line);
    statement->branches.push_back(std::move(branch));
    const std::string tag = take().text;
    if (tag == "endif") return statement;
    if (tag == "elif") continue;
    statement->otherwise = parse_last_body("endif", "if", statement->line);
    return statement;
  }
}

std::unique_ptr<Statement> Parser::parse_set() {
  auto statement = begin(StatementKind::kSet);
  take();
  statement->target = parse_target(true, {});
  if (skip_operator("=")) {
    statement->value = parse_tuple(true);
    return statement;
  }
  statement->kind = StatementKind::kSetBlock;
  statement->value = parse_filter_chain(nullptr, false);
  statement->body = parse_last_body("endset", "set", statement->line);
  return statement;
}

std::unique_ptr<Statement> Parser::parse_macro() {
  auto statement = begin(StatementKind::kMacro);
  take();
  statement->macro = std::make_shared<Macro>();
  statement->macro->name = take_name();
  statement->target = name_target(statement->macro->name, statement->line);
  parse_parameters(*statement->macro);
  statement->macro->body = parse_last_body("endmacro", "macro", statement->line);
  return statement;
}

void Parser::parse_parameters(Macro& macro) {
  expect_operator("(");
  while (!at_operator(")")) {
    if (!macro.parameters.empty()) expect_operator(",");
    const int line = current().line;
    Parameter parameter;
    parameter.name = take_name();
    parameter.name_id = name_target(parameter.name, line)->name_id;
    if (skip_operator("=")) {
      parameter.fallback = parse_expression();
    } else if (!macro.parameters.empty() && macro.parameters.back().fallback != nullptr) {
      fail_at(line, "a parameter without a default follows one with a default");
    }
    macro.parameters.push_back(std::move(parameter));
  }
  expect_operator(")");
}

std::unique_ptr<Statement> Parser::parse_call_block() {
  auto statement = begin(StatementKind::kCallBlock);
  take();
  statement->macro = std::make_shared<Macro>();
  statement->macro->name = "caller";
  if (at_operator("(")) parse_parameters(*statement->macro);
  statement->value = parse_expression();
  if (statement->value->kind != ExpressionKind::kCall) {
    fail_at(statement->line, "a call block needs the call of a macro");
  }
  statement->macro->body = parse_last_body("endcall", "call", statement->line);
  return statement;
}

std::unique_ptr<Statement> Parser::parse_filter_block() {
  auto statement = begin(StatementKind::kFilterBlock);
  take();
  statement->value = parse_filter_chain(nullptr, true);
  statement->body = parse_last_body("endfilter", "filter", statement->line);
  return statement;
}

std::unique_ptr<Statement> Parser::parse_with() {
  auto statement = begin(StatementKind::kWith);
  take();
  while (!at_kind(TokenKind::kBlockEnd)) {
    if (!statement->bindings.empty()) expect_operator(",");
    auto target = parse_target(false, {});
    expect_operator("=");
    statement->bindings.emplace_back(std::move(target), parse_expression());
  }
  statement->body = parse_last_body("endwith", "with", statement->line);
  return statement;
}

std::unique_ptr<Statement> Parser::parse_generation() {
  auto statement = begin(StatementKind::kGeneration);
  take();
  statement->body = parse_last_body("endgeneration", "generation", statement->line);
  return statement;
}

std::unique_ptr<Statement> Parser::parse_print() {
  auto statement = begin(StatementKind::kOutput);
  take();
  while (!at_kind(TokenKind::kBlockEnd)) {
    if (!statement->expressions.empty()) expect_operator(",");
    statement->expressions.push_back(parse_expression());
  }
  return statement;
}

ExpressionPtr Parser::name_target(const std::string& name, int line) {
  static constexpr std::string_view kConstants[] = {"true", "false", "none",
                                                    "True", "False", "None"};
  if (std::find(std::begin(kConstants), std::end(kConstants), name) != std::end(kConstants)) {
    fail_at(line, fmt::format("cannot assign to '{}'", name));
  }
  auto target = node(ExpressionKind::kName, line);
  target->name = name;
  target->name_id = name_id(name);
  return target;
}

ExpressionPtr Parser::parse_target_item(bool namespaces) {
  const NestingGuard guard(*this);
  const int line = current().line;
  if (skip_operator("(")) {
    if (at_operator(")")) {
      take();
      return node(ExpressionKind::kTuple, line);
    }
    // Inside brackets Jinja reads an expression, so namespaces cannot be assigned there.
    auto inner = parse_target(false, {});
    expect_operator(")");
    return inner;
  }
  if (!at_kind(TokenKind::kName)) fail_expected("a name to assign to");
  const std::string name = take().text;
  auto target = name_target(name, line);
  if (namespaces && skip_operator(".")) {
    target->kind = ExpressionKind::kNamespaceAttribute;
    target->name = take_name();
  }
  return target;
}

ExpressionPtr Parser::parse_target(bool namespaces, std::string_view end_name) {
  const int line = current().line;
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!at_tuple_end(end_name) && !at_operator("=")) {
    items.push_back(parse_target_item(namespaces));
    if (!skip_operator(",")) break;
    is_tuple = true;
  }
  if (items.empty()) fail_expected("a name to assign to");
  if (!is_tuple) return std::move(items.front());
  auto tuple = node(ExpressionKind::kTuple, line);
  tuple->children = std::move(items);
  return finish(std::move(tuple));
}

int Parser::name_id(const std::string& name) {
  const auto [found, added] = name_ids_.emplace(name, static_cast<int>(names_.size()));
  if (added) names_.push_back(name);
  return found->second;
}

}  // namespace lockstep::jinja
