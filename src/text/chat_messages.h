// Messages as clients send them, made into what the family's templates take.
//
// Templates of the family want one system message at most, in front, at least one user turn, call
// arguments as objects, and content as text. Clients send anything that the chat API allows. In
// this order:
//
//   role "developer"              -> "system"
//   role "function"               -> "tool"
//   content null or absent        -> ""
//   content of text parts         -> their texts, joined without a separator, as templates do it
//   assistant "reasoning"         -> "reasoning_content", unless that is there as well
//   assistant "function_call"     -> one entry of "tool_calls"
//   arguments in a string         -> the object in it; {} for a blank string; a string that holds
//   no
//                                    JSON object becomes the value of the one argument "arguments"
//   system messages               -> one in front, texts joined by a blank line, empty ones left
//   out no user turn                  -> an empty one after the system message
//
// Refused, by place: a message that is no object, an unknown role, content of another type, parts
// that are not text.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace lockstep {

Result<json::array> normalise_messages(const json::array& messages);

}  // namespace lockstep
