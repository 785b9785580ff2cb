// One request's way back to its client. A handler answers by respond(), or by begin_stream(),
// write() as often as it likes and its return.
#pragma once

#include <atomic>
#include <string_view>

#include "server/http/message.h"

namespace lockstep {

class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual void respond(HttpReply reply) = 0;

  virtual void begin_stream(std::string_view content_type, const HttpHeaders& headers) = 0;
  // Waits while the client takes nothing. False: it has left, or took nothing for too long.
  virtual bool write(std::string_view bytes) = 0;

  // Set once the client has left, at the latest a few hundredths of a second after.
  virtual const std::atomic<bool>& gone() const = 0;
};

}  // namespace lockstep
