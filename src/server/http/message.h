// Requests and replies as the handlers see them, without the protocol around them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

struct HttpRequest {
  std::string method;                                       // "GET", as it was sent
  std::string path;                                         // without the query
  std::string query;                                        // without '?'
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::string body;

  // Empty if there is none. `name` in lower case.
  std::string_view header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  HttpHeaders headers = {};  // further ones
};

}  // namespace lockstep
