#include "server/http/outbox.h"

#include <fmt/format.h>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <sstream>
#include <utility>

namespace lockstep {
namespace {

namespace http = boost::beast::http;

std::string head_of(const WireForm& form, int status, std::string_view content_type,
                    const HttpHeaders& headers, std::optional<size_t> length) {
  http::response<http::empty_body> head(http::int_to_status(static_cast<unsigned>(status)),
                                        static_cast<unsigned>(form.version));
  head.set(http::field::server, "lockstep");
  if (!content_type.empty()) head.set(http::field::content_type, std::string(content_type));
  for (const auto& [name, value] : headers) head.set(name, value);
  if (length) {
    head.content_length(*length);
  } else if (form.version == 11) {
    head.chunked(true);
  }
  head.keep_alive(form.keep_alive && (length || form.version == 11));
  std::ostringstream text;
  text << head.base();
  return std::move(text).str();
}

}  // namespace

void Outbox::put(std::string bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) waiting_ += bytes;
  }
  wake_();
}

void Outbox::respond(HttpReply reply) {
  begun_ = true;
  std::string bytes =
      head_of(form_, reply.status, reply.content_type, reply.headers, reply.body.size());
  if (!form_.head_only) bytes += reply.body;
  put(std::move(bytes));
}

void Outbox::begin_stream(std::string_view content_type, const HttpHeaders& headers) {
  begun_ = true;
  streams_ = true;
  put(head_of(form_, 200, content_type, headers, std::nullopt));
}

bool Outbox::write(std::string_view bytes) {
  if (bytes.empty() || form_.head_only) return !gone_;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return gone_ || waiting_.size() < kMostWaiting; });
    if (gone_) return false;
  }
  put(form_.version == 11 ? fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes)
                          : std::string(bytes));
  return true;
}

void Outbox::finish() {
  if (!begun_) respond({.status = 500, .body = R"({"error": {"message": "no answer was made"}})"});
  {
    const std::lock_guard lock(mutex_);
    if (streams_ && form_.version == 11 && !form_.head_only) waiting_ += "0\r\n\r\n";
    finished_ = true;
  }
  wake_();
}

Outbox::Piece Outbox::take() {
  Piece piece;
  {
    const std::lock_guard lock(mutex_);
    piece.bytes.swap(waiting_);
    piece.last = finished_;
  }
  room_.notify_all();
  return piece;
}

void Outbox::leave() {
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    waiting_.clear();
  }
  room_.notify_all();
}

bool Outbox::keeps_connection() const {
  const std::lock_guard lock(mutex_);
  return form_.keep_alive && finished_ && !gone_ && !(streams_ && form_.version == 10);
}

}  // namespace lockstep
