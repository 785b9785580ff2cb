#include "server/openai/error_reply.h"

#include "base/json.h"

namespace lockstep::openai {
namespace {

const char* type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return json::value(text);
}

}  // namespace

HttpReply error_reply(const ApiError& error) {
  const json::object body = {{"error", json::object{{"message", error.message},
                                                    {"type", type_of(error.status)},
                                                    {"param", text_or_null(error.param)},
                                                    {"code", text_or_null(error.code)}}}};
  return {.status = error.status, .body = dump_json(body)};
}

ApiError api_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
      return {.status = 400, .message = error.message};
    case ErrorCode::kNotFound:
      return {.status = 404, .message = error.message};
    case ErrorCode::kOutOfMemory:
      return {.status = 503, .message = error.message, .code = "out_of_memory"};
    case ErrorCode::kNumeric:
      return {.status = 500, .message = error.message, .code = "not_finite"};
    default:
      return {.status = 500, .message = error.message};
  }
}

}  // namespace lockstep::openai
