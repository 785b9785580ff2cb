// Errors as clients of OpenAI's API know them.
#pragma once

#include "base/result.h"
#include "server/api_error.h"
#include "server/http/message.h"

namespace lockstep::openai {

// {"error": {"message", "type", "param", "code"}} with the error's status.
HttpReply error_reply(const ApiError& error);

// Of an error that the engine gave: the caller's fault or the server's.
ApiError api_error(const Error& error);

}  // namespace lockstep::openai
