// The bytes of an answer on their way from the thread that makes them to the one that writes them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "server/http/exchange.h"

namespace lockstep {

// How an answer is put on the wire.
struct WireForm {
  int version = 11;        // 10: HTTP/1.0, which knows no chunks
  bool keep_alive = true;  // the client's wish
  bool head_only = false;
};

class Outbox final : public HttpExchange {
 public:
  // `wake` is called after each change, from any thread.
  Outbox(WireForm form, std::function<void()> wake) : form_(form), wake_(std::move(wake)) {}

  // The maker's side.
  void respond(HttpReply reply) override;
  void begin_stream(std::string_view content_type, const HttpHeaders& headers) override;
  bool write(std::string_view bytes) override;
  const std::atomic<bool>& gone() const override { return gone_; }
  // The handler has returned. One that has not answered has failed.
  void finish();

  // The writer's side.
  struct Piece {
    std::string bytes;
    bool last = false;  // nothing comes after it
  };
  Piece take();
  // The client has left: nothing more is taken.
  void leave();
  // Whether another request may follow on this connection; true only for a whole answer.
  bool keeps_connection() const;

 private:
  void put(std::string bytes);

  static constexpr size_t kMostWaiting = 256 << 10;

  WireForm form_;
  std::function<void()> wake_;
  std::atomic<bool> gone_ = false;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::string waiting_;
  bool begun_ = false;
  bool streams_ = false;
  bool finished_ = false;
};

}  // namespace lockstep
