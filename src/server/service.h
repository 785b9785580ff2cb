// What the server answers: routes, keys, counters and the log around the dialects.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "server/api_error.h"
#include "server/api_keys.h"
#include "server/http/exchange.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/openai/chat_reply.h"
#include "server/running.h"
#include "server/served_model.h"

namespace lockstep {

struct ServiceOptions {
  int64_t queue = 256;           // generations that may wait beside those that run
  std::string cors_origin = {};  // empty: no cross-origin use
  openai::ReasoningField reasoning = openai::ReasoningField::kBoth;
  bool log_requests = false;  // bodies too
};

class Service {
 public:
  Service(ServedModel model, ApiKeys keys, ServiceOptions options);

  // Draws one token, so that /health tells what was seen. Errors: the engine's.
  Status warm_up();
  // Reads the file of keys again and says so in the log.
  void reload_keys();

  void handle(const HttpRequest& request, HttpExchange& exchange);

  // A refusal of the HTTP server itself, in the form of the API.
  static HttpReply refusal(int status, std::string_view message);

 private:
  // A request on its way to its answer.
  struct Context {
    const HttpRequest& request;
    HttpExchange& exchange;
    std::string id;
    std::string salt;  // of the caller's prompt cache
    int status = 0;
    openai::Usage usage = {};  // of all replies
    LogFields log = {};        // beside path, status and time
  };
  using Route = void (Service::*)(Context& context);
  struct RouteEntry {
    std::string_view method;
    std::string_view path;
    Route route;
    bool open;  // without a key
  };
  static const RouteEntry kRoutes[];

  void dispatch(Context& context);
  void answer(Context& context, HttpReply reply);
  void answer(Context& context, const json::value& body);
  void refuse(Context& context, const ApiError& error);
  HttpHeaders headers_of(const Context& context) const;
  void finish(Context& context, double seconds);

  void chat(Context& context);
  void completions(Context& context);
  void models(Context& context);
  void tokenize(Context& context);
  void detokenize(Context& context);
  void apply_template(Context& context);
  void health(Context& context);
  void metrics(Context& context);
  void slots(Context& context);
  void props(Context& context);
  void open_api(Context& context);
  void cancel(Context& context);

  // Both dialects: a whole answer (Reply) or a stream (Chunks) from one generation.
  template <typename Reply, typename Chunks, typename Call>
  void generate(Context& context, Call& call);
  template <typename Reply>
  void give_whole(Context& context, Generation& generation, Reply& reply, Running::Place& place);
  template <typename Chunks>
  void give_stream(Context& context, Generation& generation, Chunks& chunks, Running::Place& place);
  void note_end(Context& context, const GenerationEnd& end);
  void note_ignored(const std::vector<std::string>& fields);
  bool read_body(Context& context, json::object& body);

  ServedModel model_;
  ApiKeys keys_;
  ServiceOptions options_;
  Metrics metrics_;
  Running running_;
  std::atomic<bool> ready_ = false;
  std::mutex ignored_mutex_;
  std::set<std::string> ignored_;  // fields that the log has named
};

}  // namespace lockstep
