#include "server/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "server/foreign_paths.h"
#include "server/openai/error_reply.h"
#include "server/openai/wire.h"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestId = 64;

// The caller's id where it is a plain one: it comes back in headers and stands in the log.
std::string request_id(const HttpRequest& request) {
  const std::string_view given = request.header("x-request-id");
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!given.empty() && given.size() <= kLongestId &&
      std::all_of(given.begin(), given.end(), plain)) {
    return std::string(given);
  }
  if (request.path == "/v1/chat/completions") return openai::new_id("chatcmpl");
  return openai::new_id(request.path == "/v1/completions" ? "cmpl" : "req");
}

// The path without what follows a prefix route's name.
bool matches(std::string_view route, std::string_view path) {
  return route.ends_with('/') ? path.starts_with(route) && path.size() > route.size()
                              : path == route;
}

}  // namespace

const Service::RouteEntry Service::kRoutes[] = {
    {"POST", "/v1/chat/completions", &Service::chat, false},
    {"POST", "/v1/completions", &Service::completions, false},
    {"GET", "/v1/models", &Service::models, false},
    {"GET", "/v1/models/", &Service::models, false},
    {"DELETE", "/v1/requests/", &Service::cancel, false},
    {"POST", "/tokenize", &Service::tokenize, false},
    {"POST", "/detokenize", &Service::detokenize, false},
    {"POST", "/apply-template", &Service::apply_template, false},
    {"GET", "/slots", &Service::slots, false},
    {"GET", "/props", &Service::props, false},
    {"GET", "/metrics", &Service::metrics, false},
    {"GET", "/health", &Service::health, true},
    {"GET", "/openapi.json", &Service::open_api, true},
};

Service::Service(ServedModel model, ApiKeys keys, ServiceOptions options)
    : model_(std::move(model)),
      keys_(std::move(keys)),
      options_(std::move(options)),
      running_(model_.limits.streams + options_.queue) {}

Status Service::warm_up() {
  LOCKSTEP_ASSIGN_OR_RETURN(
      ReplyStream stream,
      model_.engine->submit({.prompt = {0}, .max_tokens = 1, .use_cache = false}));
  LOCKSTEP_RETURN_IF_ERROR(collect_replies(stream).front().end.status);
  ready_ = true;
  return {};
}

void Service::reload_keys() {
  const Status status = keys_.reload();
  if (status.ok()) return log_line("info", "keys_reloaded", {});
  log_line("error", "keys_kept", {{"reason", status.error().message}});
}

HttpReply Service::refusal(int status, std::string_view message) {
  return openai::error_reply({.status = status, .message = std::string(message)});
}

void Service::handle(const HttpRequest& request, HttpExchange& exchange) {
  const Clock::time_point start = Clock::now();
  Context context = {
      .request = request, .exchange = exchange, .id = request_id(request), .salt = {}};
  try {
    dispatch(context);
  } catch (const std::bad_alloc&) {
    if (context.status == 0) refuse(context, {.status = 503, .message = "out of memory"});
  } catch (const std::exception& error) {
    context.log.emplace_back("exception", error.what());
    if (context.status == 0) refuse(context, {.status = 500, .message = "an internal error"});
  }
  finish(context, std::chrono::duration<double>(Clock::now() - start).count());
}

void Service::dispatch(Context& context) {
  const HttpRequest& request = context.request;
  if (request.method == "OPTIONS" && !options_.cors_origin.empty()) {
    return answer(context, {.status = 204, .content_type = {}, .body = {}});
  }
  // Browsers send simple requests of any page; one without this header comes from no page.
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && options_.cors_origin != "*" && origin != options_.cors_origin) {
    return refuse(context, {.status = 403,
                            .message = "web pages of this origin may not ask; --cors-origin names "
                                       "one that may"});
  }
  std::string allowed;
  for (const RouteEntry& entry : kRoutes) {
    if (!matches(entry.path, request.path)) continue;
    const bool head = request.method == "HEAD" && entry.method == "GET";
    if (entry.method != request.method && !head) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(entry.method);
      continue;
    }
    const auto salt = keys_.salt_of(request.header("authorization"));
    if (!salt && !entry.open) {
      return refuse(context, {.status = 401,
                              .message = "this server needs a key: Authorization: Bearer KEY",
                              .code = "invalid_api_key"});
    }
    context.salt = salt.value_or("");
    return (this->*entry.route)(context);
  }
  if (!allowed.empty()) {
    HttpReply reply = openai::error_reply(
        {.status = 405,
         .message = fmt::format("{} takes {}, not {}", request.path, allowed, request.method)});
    reply.headers.emplace_back("Allow", allowed);
    return answer(context, std::move(reply));
  }
  refuse(context, {.status = 404, .message = describe_missing_path(request.path)});
}

HttpHeaders Service::headers_of(const Context& context) const {
  HttpHeaders headers = {{"X-Request-Id", context.id}};
  if (!options_.cors_origin.empty()) {
    headers.emplace_back("Access-Control-Allow-Origin", options_.cors_origin);
    headers.emplace_back("Access-Control-Allow-Headers",
                         "authorization, content-type, x-request-id");
    headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
    if (options_.cors_origin != "*") headers.emplace_back("Vary", "Origin");
  }
  return headers;
}

void Service::answer(Context& context, HttpReply reply) {
  context.status = reply.status;
  for (auto& header : headers_of(context)) reply.headers.push_back(std::move(header));
  context.exchange.respond(std::move(reply));
}

void Service::answer(Context& context, const json::value& body) {
  answer(context, HttpReply{.body = dump_json(body)});
}

void Service::refuse(Context& context, const ApiError& error) {
  context.log.emplace_back("error", error.message);
  HttpReply reply = openai::error_reply(error);
  if (error.status == 429) reply.headers.emplace_back("Retry-After", "1");
  if (error.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  answer(context, std::move(reply));
}

void Service::finish(Context& context, double seconds) {
  const bool known = std::any_of(std::begin(kRoutes), std::end(kRoutes), [&](const auto& entry) {
    return matches(entry.path, context.request.path);
  });
  metrics_.count("lockstep_requests_total",
                 fmt::format("path=\"{}\",code=\"{}\"", known ? context.request.path : "other",
                             context.status));
  LogFields fields = {{"id", context.id},
                      {"method", context.request.method},
                      {"path", context.request.path},
                      {"status", std::to_string(context.status)},
                      {"seconds", fmt::format("{:.4f}", seconds)}};
  for (auto& field : context.log) fields.push_back(std::move(field));
  if (options_.log_requests) fields.emplace_back("body", context.request.body);
  log_line(context.status < 500 ? "info" : "error", "request", fields);
}

bool Service::read_body(Context& context, json::object& body) {
  auto parsed = parse_json(context.request.body, "the body");
  if (!parsed.ok()) {
    refuse(context, {.message = parsed.error().message});
    return false;
  }
  if (!parsed.value().is_object()) {
    refuse(context, {.message = "the body is no JSON object"});
    return false;
  }
  body = std::move(parsed.value().as_object());
  return true;
}

}  // namespace lockstep
