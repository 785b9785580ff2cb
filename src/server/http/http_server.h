// HTTP/1.1 on one port: connections, limits, deadlines, TLS. What is asked and answered is the
// handler's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/http/exchange.h"
#include "server/http/message.h"

namespace lockstep {

struct HttpLimits {
  size_t header_bytes = 32 << 10;
  size_t body_bytes = 32 << 20;
  int connections = 4096;
  int idle_seconds = 75;   // between requests
  int read_seconds = 30;   // for a request's head, and for its body
  int write_seconds = 60;  // for a client that takes nothing
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8080;  // 0: any free one
  HttpLimits limits = {};
  std::string certificate_file = {};  // PEM, with key_file: TLS
  std::string key_file = {};
  // What the server itself refuses (a body that is too large, ...) in the handlers' form.
  std::function<HttpReply(int status, std::string_view message)> refusal = nullptr;
};

// Runs on a thread that the exchange has for itself until it returns.
using HttpHandler = std::function<void(const HttpRequest&, HttpExchange&)>;

class HttpServer {
 public:
  // Takes the port. Errors: the address, the port, certificate or key, by name.
  static Result<std::unique_ptr<HttpServer>> open(HttpOptions options, HttpHandler handler);
  ~HttpServer();

  uint16_t port() const;
  // Serves until stop(), or until the last exchange after drain(). The calling thread does all
  // reading and writing.
  void run();

  // From any thread. drain: no new connection, none is kept after its answer. stop: at once.
  void drain();
  void stop();
  // `number` calls `act` on the thread of run(), as often as the signal comes.
  void on_signal(int number, std::function<void()> act);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
