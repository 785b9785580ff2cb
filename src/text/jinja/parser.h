// Turns a template's tokens into statements, with Jinja's grammar and precedences.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"
#include "text/jinja/limits.h"

namespace lockstep::jinja {

// Throws Fault.
Document parse(std::string_view source, const Limits& limits);

class Parser {
 public:
  Parser(std::vector<Token> tokens, const Limits& limits);

  Document run();

 private:
  // Tokens.
  const Token& current() const { return tokens_[position_]; }
  const Token& ahead() const;
  Token take();
  bool at_kind(TokenKind kind) const { return current().kind == kind; }
  bool at_operator(std::string_view text) const;
  bool at_name(std::string_view text) const;
  bool skip_operator(std::string_view text);
  bool skip_name(std::string_view text);
  void expect_operator(std::string_view text);
  void expect_name(std::string_view text);
  void expect_block_end();
  std::string take_name();
  [[noreturn]] void fail_expected(std::string_view expected) const;

  // Blocks: everything up to one of the end tags, whose name is left current.
  using EndTags = std::vector<std::string_view>;
  Block parse_until(const EndTags& ends, std::string_view opened_by, int opened_at);
  Block parse_body(const EndTags& ends, std::string_view opened_by, int opened_at);
  // A body that only one tag can end, which is read, too.
  Block parse_last_body(std::string_view end, std::string_view opened_by, int opened_at);
  void append_output(Block& block);
  std::unique_ptr<Statement> parse_statement();
  std::unique_ptr<Statement> parse_for();
  std::unique_ptr<Statement> parse_if();
  std::unique_ptr<Statement> parse_set();
  std::unique_ptr<Statement> parse_macro();
  std::unique_ptr<Statement> parse_call_block();
  std::unique_ptr<Statement> parse_filter_block();
  std::unique_ptr<Statement> parse_with();
  std::unique_ptr<Statement> parse_generation();
  std::unique_ptr<Statement> parse_print();
  std::unique_ptr<Statement> begin(StatementKind kind);
  void parse_parameters(Macro& macro);

  // Assignment targets: names, tuples of them, and "ns.x" where allowed.
  ExpressionPtr parse_target(bool namespaces, std::string_view end_name);
  ExpressionPtr parse_target_item(bool namespaces);
  ExpressionPtr name_target(const std::string& name, int line);

  // Expressions, loosest first.
  ExpressionPtr parse_tuple(bool conditional, std::string_view end_name = {},
                            bool parenthesized = false);
  ExpressionPtr parse_expression(bool conditional = true);
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_chain(std::string_view name, ExpressionKind kind,
                            ExpressionPtr (Parser::*parse_operand)());
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool filters = true);
  ExpressionPtr parse_primary();
  ExpressionPtr parse_name();
  ExpressionPtr parse_list();
  ExpressionPtr parse_mapping();
  ExpressionPtr parse_postfix(ExpressionPtr node);
  ExpressionPtr parse_filters_and_tests(ExpressionPtr node);
  ExpressionPtr parse_subscript(ExpressionPtr node);
  ExpressionPtr parse_item(ExpressionPtr node);
  ExpressionPtr parse_tuple_index(ExpressionPtr object, std::vector<ExpressionPtr> parts, int line);
  ExpressionPtr parse_call(ExpressionPtr node);
  ExpressionPtr parse_filter(ExpressionPtr node);
  ExpressionPtr parse_filter_chain(ExpressionPtr node, bool started);
  ExpressionPtr parse_test(ExpressionPtr node);
  std::unique_ptr<CallArguments> parse_arguments();
  bool read_comparison(Comparison& op);
  bool at_tuple_end(std::string_view end_name) const;
  bool at_test_argument() const;
  std::string dotted_name();

  // Nodes.
  ExpressionPtr node(ExpressionKind kind, int line) const;
  ExpressionPtr constant(Value value, int line) const;
  // Computes the height and refuses trees that are too high.
  ExpressionPtr finish(ExpressionPtr node) const;
  int name_id(const std::string& name);

  const std::vector<Token> tokens_;
  const Limits& limits_;
  size_t position_ = 0;
  int nesting_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> name_ids_;

  friend class NestingGuard;
};

// Counts what the parser calls itself for.
class NestingGuard {
 public:
  explicit NestingGuard(Parser& parser);
  ~NestingGuard() { --parser_.nesting_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  Parser& parser_;
};

}  // namespace lockstep::jinja
