// A reply that may think for so many tokens and must then answer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "sampling/token_constraint.h"
#include "text/tokenizer.h"

namespace lockstep {

// For a reply that begins in thinking: after `tokens` tokens without the closing tag it is made to
// write that tag and the blank line behind it; from there on anything may be drawn. Errors: the
// tokenizer has no such tag.
Result<std::shared_ptr<const TokenConstraint>> make_thinking_budget(const Tokenizer& tokenizer,
                                                                    int64_t vocab, int64_t tokens);

}  // namespace lockstep
