#include "server/http/http_server.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "server/http/outbox.h"
#include "server/http/workers.h"

namespace lockstep {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;
using PlainStream = beast::tcp_stream;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;
using Parser = http::request_parser<http::string_body>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
// How often a client that waits for its answer is looked after: well within a round of a model.
constexpr milliseconds kLookInterval(20);
constexpr seconds kLinger(2);

// Whether the other side has closed, be there unread bytes or not.
bool has_left(PlainStream& stream) {
  pollfd descriptor = {.fd = stream.socket().native_handle(), .events = POLLRDHUP, .revents = 0};
  return poll(&descriptor, 1, 0) > 0 &&
         (descriptor.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

struct Refusal {
  int status = 0;  // 0: nothing is to be said, the client is gone or silent
  std::string message;
};

Refusal refusal_of(error_code error, const HttpLimits& limits) {
  if (error == http::error::body_limit) {
    return {413, fmt::format("the body is larger than the {} bytes that this server takes",
                             limits.body_bytes)};
  }
  if (error == http::error::header_limit) {
    return {431, fmt::format("the headers are larger than the {} bytes that this server takes",
                             limits.header_bytes)};
  }
  const bool malformed = error.category() == make_error_code(http::error::bad_method).category();
  if (malformed && error != http::error::end_of_stream && error != http::error::partial_message) {
    return {400, "this is no HTTP request: " + error.message()};
  }
  return {};
}

HttpRequest request_of(http::request<http::string_body>&& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  const std::string target(message.target());
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[std::move(name)] = std::string(field.value());
  }
  request.body = std::move(message.body());
  return request;
}

// One connection, as drain() and stop() see it.
struct Session {
  PlainStream* stream = nullptr;
  std::shared_ptr<Outbox> outbox;  // of the request that is being answered; null: idle
};

}  // namespace

struct HttpServer::Impl {
  Impl(HttpOptions its_options, HttpHandler its_handler)
      : options(std::move(its_options)), handler(std::move(its_handler)) {}

  Status open();
  Status open_tls();
  asio::awaitable<void> accept();
  template <typename Stream>
  asio::awaitable<void> serve(Stream stream);
  template <typename Stream>
  asio::awaitable<void> converse(Stream& stream, Session& session);
  template <typename Stream>
  asio::awaitable<error_code> read(Stream& stream, beast::flat_buffer& buffer, Parser& parser);
  template <typename Stream>
  asio::awaitable<bool> answer(Stream& stream, Session& session,
                               http::request<http::string_body> message);
  template <typename Stream>
  asio::awaitable<bool> write_out(Stream& stream, Outbox& outbox, asio::steady_timer& timer);
  template <typename Stream>
  asio::awaitable<void> refuse(Stream& stream, Refusal refusal);
  void drain();
  void stop();
  void end_if_idle();

  HttpOptions options;
  HttpHandler handler;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  std::optional<asio::ssl::context> tls;
  std::list<asio::signal_set> signals;
  std::list<Session> sessions;
  bool draining = false;
  Workers workers;  // last: handlers use the context
};

Status HttpServer::Impl::open_tls() {
  error_code error;
  tls.emplace(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1,
                   error);
  tls->use_certificate_chain_file(options.certificate_file, error);
  if (error) {
    return Error{ErrorCode::kBadFile, fmt::format("the certificate {} cannot be used: {}",
                                                  options.certificate_file, error.message())};
  }
  tls->use_private_key_file(options.key_file, asio::ssl::context::pem, error);
  if (error) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("the key {} cannot be used with that certificate: {}",
                             options.key_file, error.message())};
  }
  return {};
}

Status HttpServer::Impl::open() {
  if (!options.certificate_file.empty()) LOCKSTEP_RETURN_IF_ERROR(open_tls());
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options.host, error);
  if (error) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("\"{}\" is no address; 127.0.0.1, ::1, 0.0.0.0 and :: are some", options.host)};
  }
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{ErrorCode::kIo, fmt::format("port {} of {} cannot be taken: {}", options.port,
                                             options.host, error.message())};
  }
  return {};
}

asio::awaitable<void> HttpServer::Impl::accept() {
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (!acceptor.is_open()) co_return;
    if (error) {  // out of descriptors, for one: others will be closed
      asio::steady_timer pause(context, milliseconds(50));
      co_await pause.async_wait(kAwait);
      continue;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    PlainStream stream(std::move(socket));
    if (tls) {
      asio::co_spawn(context, serve(TlsStream(std::move(stream), *tls)), asio::detached);
    } else {
      asio::co_spawn(context, serve(std::move(stream)), asio::detached);
    }
  }
}

template <typename Stream>
asio::awaitable<void> HttpServer::Impl::serve(Stream stream) {
  PlainStream& lowest = beast::get_lowest_layer(stream);
  const auto session = sessions.insert(sessions.end(), Session{&lowest, nullptr});
  bool open = true;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    lowest.expires_after(seconds(options.limits.read_seconds));
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
    open = !error;
  }
  if (open && std::ssize(sessions) > options.limits.connections) {
    co_await refuse(stream, {503, fmt::format("this server keeps {} connections and all are taken",
                                              options.limits.connections)});
  } else if (open) {
    co_await converse(stream, *session);
  }
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    lowest.expires_after(kLinger);
    if (open) co_await stream.async_shutdown(kAwait);
  }
  error_code ignored;
  lowest.socket().shutdown(tcp::socket::shutdown_both, ignored);
  sessions.erase(session);
  end_if_idle();
}

template <typename Stream>
asio::awaitable<void> HttpServer::Impl::converse(Stream& stream, Session& session) {
  beast::flat_buffer buffer;
  while (!draining) {
    Parser parser;
    parser.header_limit(static_cast<uint32_t>(options.limits.header_bytes));
    parser.body_limit(options.limits.body_bytes);
    const error_code error = co_await read(stream, buffer, parser);
    if (error) {
      co_await refuse(stream, refusal_of(error, options.limits));
      co_return;
    }
    const bool more = co_await answer(stream, session, parser.release());
    if (!more) co_return;
  }
}

template <typename Stream>
asio::awaitable<error_code> HttpServer::Impl::read(Stream& stream, beast::flat_buffer& buffer,
                                                   Parser& parser) {
  PlainStream& lowest = beast::get_lowest_layer(stream);
  lowest.expires_after(seconds(options.limits.idle_seconds));
  const auto [head_error, head_size] =
      co_await http::async_read_header(stream, buffer, parser, kAwait);
  if (head_error) co_return head_error;
  lowest.expires_after(seconds(options.limits.read_seconds));
  if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream, asio::buffer(kContinue), kAwait);
  }
  const auto [body_error, body_size] = co_await http::async_read(stream, buffer, parser, kAwait);
  co_return body_error;
}

template <typename Stream>
asio::awaitable<bool> HttpServer::Impl::answer(Stream& stream, Session& session,
                                               http::request<http::string_body> message) {
  const WireForm form = {.version = message.version() == 10 ? 10 : 11,
                         .keep_alive = message.keep_alive() && !draining,
                         .head_only = message.method() == http::verb::head};
  auto timer = std::make_shared<asio::steady_timer>(context);
  auto outbox = std::make_shared<Outbox>(
      form, [this, timer] { asio::post(context, [timer] { timer->cancel(); }); });
  auto request = std::make_shared<HttpRequest>(request_of(std::move(message)));
  session.outbox = outbox;
  workers.run([this, request, outbox] {
    handler(*request, *outbox);
    outbox->finish();
  });
  const bool written = co_await write_out(stream, *outbox, *timer);
  session.outbox = nullptr;
  co_return written && outbox->keeps_connection();
}

template <typename Stream>
asio::awaitable<bool> HttpServer::Impl::write_out(Stream& stream, Outbox& outbox,
                                                  asio::steady_timer& timer) {
  PlainStream& lowest = beast::get_lowest_layer(stream);
  while (true) {
    const Outbox::Piece piece = outbox.take();
    if (!piece.bytes.empty()) {
      lowest.expires_after(seconds(options.limits.write_seconds));
      const auto [error, size] =
          co_await asio::async_write(stream, asio::buffer(piece.bytes), kAwait);
      if (error) break;
    }
    if (piece.last) co_return true;
    if (!piece.bytes.empty()) continue;
    lowest.expires_never();
    timer.expires_after(kLookInterval);
    co_await timer.async_wait(kAwait);
    if (has_left(lowest)) break;
  }
  outbox.leave();
  co_return false;
}

// Says why and lets the client read it: closing on unread bytes would take the answer back.
template <typename Stream>
asio::awaitable<void> HttpServer::Impl::refuse(Stream& stream, Refusal refusal) {
  if (refusal.status == 0) co_return;
  HttpReply reply = {
      .status = refusal.status, .content_type = "text/plain", .body = refusal.message};
  if (options.refusal) reply = options.refusal(refusal.status, refusal.message);
  Outbox outbox({.version = 11, .keep_alive = false}, [] {});
  outbox.respond(std::move(reply));
  outbox.finish();
  PlainStream& lowest = beast::get_lowest_layer(stream);
  lowest.expires_after(kLinger);
  const Outbox::Piece piece = outbox.take();
  const auto [error, size] = co_await asio::async_write(stream, asio::buffer(piece.bytes), kAwait);
  if (error) co_return;
  error_code ignored;
  lowest.socket().shutdown(tcp::socket::shutdown_send, ignored);
  std::array<char, 4096> rest;
  while (true) {
    const auto [end, count] = co_await lowest.async_read_some(asio::buffer(rest), kAwait);
    if (end) co_return;
  }
}

void HttpServer::Impl::end_if_idle() {
  if (!draining || !sessions.empty()) return;
  for (asio::signal_set& set : signals) set.cancel();
}

void HttpServer::Impl::drain() {
  draining = true;
  error_code ignored;
  acceptor.close(ignored);
  for (Session& session : sessions) {
    if (!session.outbox) session.stream->cancel();
  }
  end_if_idle();
}

void HttpServer::Impl::stop() {
  drain();
  for (Session& session : sessions) {
    if (session.outbox) session.outbox->leave();
    session.stream->close();
  }
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpOptions options, HttpHandler handler) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  LOCKSTEP_RETURN_IF_ERROR(impl->open());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

void HttpServer::run() {
  asio::co_spawn(impl_->context, impl_->accept(), asio::detached);
  impl_->context.run();
}

void HttpServer::drain() {
  asio::post(impl_->context, [impl = impl_.get()] { impl->drain(); });
}

void HttpServer::stop() {
  asio::post(impl_->context, [impl = impl_.get()] { impl->stop(); });
}

void HttpServer::on_signal(int number, std::function<void()> act) {
  asio::signal_set& set = impl_->signals.emplace_back(impl_->context, number);
  auto wait = std::make_shared<std::function<void()>>();
  *wait = [&set, act = std::move(act), wait] {
    set.async_wait([act, wait](error_code error, int) {
      if (error) {
        *wait = nullptr;
        return;
      }
      act();
      (*wait)();
    });
  };
  (*wait)();
}

}  // namespace lockstep
