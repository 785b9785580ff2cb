#include "text/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/jinja/fault.h"
#include "text/jinja/literal.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

bool is_digit_byte(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Line ends become "\n", and one at the very end goes.
std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)) {}

  std::vector<Token> run() {
    while (position_ < source_.size()) lex_text();
    push(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  bool at(std::string_view text) const {
    return std::string_view(source_).substr(position_).starts_with(text);
  }
  char peek(size_t ahead) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }

  Token& push(TokenKind kind, std::string text) {
    Token token;
    token.kind = kind;
    token.line = line_;
    token.text = std::move(text);
    return tokens_.emplace_back(std::move(token));
  }

  void advance(size_t bytes) {
    const auto begin = source_.begin() + static_cast<std::ptrdiff_t>(position_);
    line_ += static_cast<int>(std::count(begin, begin + static_cast<std::ptrdiff_t>(bytes), '\n'));
    position_ += bytes;
  }

  void skip_space() {
    const std::string_view rest = std::string_view(source_).substr(position_);
    advance(rest.size() - strip_left(rest).size());
  }

  // Where the next tag opens, or the end.
  size_t find_tag() const {
    for (size_t i = position_; i + 1 < source_.size(); ++i) {
      const char next = source_[i + 1];
      if (source_[i] == '{' && (next == '{' || next == '%' || next == '#')) return i;
    }
    return source_.size();
  }

  // What remains of `text` before a tag that opens with `sign`.
  static std::string_view trim_before_tag(std::string_view text, char sign, bool variable,
                                          bool line_starting) {
    if (sign == '-') return strip_right(text);
    if (sign == '+' || variable) return text;
    const size_t newline = text.rfind('\n');
    const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
    if (line_start == 0 && !line_starting) return text;
    return strip_left(text.substr(line_start)).empty() ? text.substr(0, line_start) : text;
  }

  void push_data(std::string_view raw, std::string_view kept) {
    if (!kept.empty()) push(TokenKind::kData, std::string(kept));
    advance(raw.size());
  }

  void lex_text() {
    const size_t tag = find_tag();
    const std::string_view text = std::string_view(source_).substr(position_, tag - position_);
    if (tag == source_.size()) return push_data(text, text);
    const char kind = source_[tag + 1];
    const char after = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const char sign = after == '-' || after == '+' ? after : '\0';
    push_data(text, trim_before_tag(text, sign, kind == '{', line_starting_));
    if (kind == '%' && skip_raw_begin()) return lex_raw();
    const int line = line_;
    advance(sign == '\0' ? 2 : 3);
    if (kind == '#') return lex_comment(line);
    push(kind == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, "");
    lex_tag(kind == '{');
  }

  // Moves behind "{% WORD" with its sign, or stays.
  bool skip_block_word(std::string_view word) {
    const size_t start = position_;
    const int line = line_;
    if (at("{%")) {
      advance(peek(2) == '-' || peek(2) == '+' ? 3 : 2);
      skip_space();
      if (at(word)) {
        advance(word.size());
        skip_space();
        return true;
      }
    }
    position_ = start;
    line_ = line;
    return false;
  }

  bool skip_raw_begin() {
    const size_t start = position_;
    const int line = line_;
    if (skip_block_word("raw")) {
      if (at("-%}")) {
        advance(3);
        skip_space();
        return true;
      }
      if (at("%}")) {
        advance(2);
        return true;
      }
    }
    position_ = start;
    line_ = line;
    return false;
  }

  void lex_raw() {
    const size_t start = position_;
    const int start_line = line_;
    const bool line_starting = source_[start - 1] == '\n';
    while (true) {
      const size_t tag = source_.find("{%", position_);
      if (tag == std::string::npos) fail_at(start_line, "a raw block has no end");
      advance(tag - position_);
      const char sign = peek(2) == '-' || peek(2) == '+' ? peek(2) : '\0';
      if (skip_block_word("endraw") && skip_end("%}", true)) {
        const std::string_view text = std::string_view(source_).substr(start, tag - start);
        const std::string_view kept = trim_before_tag(text, sign, false, line_starting);
        if (!kept.empty()) push(TokenKind::kData, std::string(kept));
        return;
      }
      if (position_ == tag) advance(2);
    }
  }

  // The end of a block or comment tag whose closing mark is `mark`; trims what follows it.
  bool skip_end(std::string_view mark, bool trim_newline) {
    if (peek(0) == '-' && source_.compare(position_ + 1, 2, mark) == 0) {
      advance(3);
      skip_space();
    } else if (trim_newline && peek(0) == '+' && source_.compare(position_ + 1, 2, mark) == 0) {
      advance(3);
    } else if (at(mark)) {
      advance(2);
      if (trim_newline && peek(0) == '\n') advance(1);
    } else {
      return false;
    }
    line_starting_ = source_[position_ - 1] == '\n';
    return true;
  }

  void lex_comment(int line) {
    while (position_ < source_.size()) {
      if (skip_end("#}", true)) return;
      advance(1);
    }
    fail_at(line, "a comment has no end");
  }

  void lex_tag(bool variable) {
    std::string closers;  // brackets that wait to be closed, innermost last
    while (position_ < source_.size()) {
      const int line = line_;
      if (closers.empty() && skip_end(variable ? "}}" : "%}", !variable)) {
        push(variable ? TokenKind::kVariableEnd : TokenKind::kBlockEnd, "").line = line;
        return;
      }
      const size_t before = position_;
      skip_space();
      if (position_ == before) lex_token(closers);
    }
  }

  void lex_token(std::string& closers) {
    const char c = peek(0);
    if (is_digit_byte(c)) return lex_number();
    if (is_name_start(c)) {
      size_t length = 1;
      while (is_name_start(peek(length)) || is_digit_byte(peek(length))) ++length;
      push(TokenKind::kName, source_.substr(position_, length));
      return advance(length);
    }
    if (c == '\'' || c == '"') return lex_string(c);
    lex_operator(closers);
  }

  void lex_number() {
    const bool after_dot = position_ > 0 && source_[position_ - 1] == '.';
    const NumberLiteral literal =
        read_number(std::string_view(source_).substr(position_), !after_dot);
    if (literal.overflow) fail_at(line_, "an integer does not fit in 64 bits");
    Token& token = push(literal.is_float ? TokenKind::kFloat : TokenKind::kInteger, "");
    token.integer = literal.integer;
    token.number = literal.number;
    advance(literal.length);
  }

  void lex_string(char quote) {
    size_t end = position_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(line_, "a string has no closing quote");
    const std::string_view body =
        std::string_view(source_).substr(position_ + 1, end - position_ - 1);
    push(TokenKind::kString, unescape_string(body, line_));
    advance(end + 1 - position_);
  }

  void lex_operator(std::string& closers) {
    static constexpr std::string_view kOperators[] = {
        "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                     [&](std::string_view text) { return at(text); });
    if (found == std::end(kOperators)) {
      size_t end = position_;
      next_code_point(source_, end);
      fail_at(line_, fmt::format("unexpected character '{}' in a tag",
                                 source_.substr(position_, end - position_)));
    }
    balance(found->front(), closers);
    push(TokenKind::kOperator, std::string(*found));
    advance(found->size());
  }

  void balance(char c, std::string& closers) const {
    if (c == '(') closers += ')';
    if (c == '[') closers += ']';
    if (c == '{') closers += '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (closers.empty()) fail_at(line_, fmt::format("unexpected '{}'", c));
    if (closers.back() != c) {
      fail_at(line_, fmt::format("unexpected '{}', expected '{}'", c, closers.back()));
    }
    closers.pop_back();
  }

  const std::string source_;
  size_t position_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // the last tag's end, or the template's start, began a line
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace lockstep::jinja
