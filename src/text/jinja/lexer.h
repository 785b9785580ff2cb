// Cuts a template into text and tags with trim_blocks and lstrip_blocks on, as Jinja 3.1 does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::jinja {

enum class TokenKind : uint8_t {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text;  // data, name, operator, or a string's value
  int64_t integer = 0;
  double number = 0;
};

// Ends with one kEnd token. Throws Fault.
std::vector<Token> tokenize(std::string_view source);

}  // namespace lockstep::jinja
