#include "server/api_keys.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <strings.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace lockstep {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

ApiKeys::ApiKeys(ApiKeys&& other) noexcept
    : given_(std::move(other.given_)),
      from_file_(std::move(other.from_file_)),
      file_(std::move(other.file_)) {}

ApiKeys::Digest ApiKeys::digest_of(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

Result<ApiKeys> ApiKeys::make(const std::vector<std::string>& keys, std::filesystem::path file) {
  ApiKeys made;
  for (const std::string& key : keys) made.given_.push_back(digest_of(key));
  made.file_ = std::move(file);
  LOCKSTEP_RETURN_IF_ERROR(made.reload());
  return made;
}

Result<std::vector<ApiKeys::Digest>> ApiKeys::read_file() const {
  struct stat facts = {};
  if (stat(file_.c_str(), &facts) != 0) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: {}", file_.string(), std::strerror(errno))};
  }
  if ((facts.st_mode & 077) != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} can be read by others than its owner (mode {:o}); chmod 600 it",
                             file_.string(), facts.st_mode & 0777)};
  }
  std::ifstream stream(file_);
  std::vector<Digest> digests;
  std::string line;
  while (std::getline(stream, line)) {
    const std::string_view key = trimmed(line);
    if (!key.empty() && key.front() != '#') digests.push_back(digest_of(key));
  }
  if (digests.empty()) {
    return Error{ErrorCode::kBadFile, fmt::format("{} holds no key", file_.string())};
  }
  return digests;
}

Status ApiKeys::reload() {
  if (file_.empty()) return {};
  LOCKSTEP_ASSIGN_OR_RETURN(std::vector<Digest> digests, read_file());
  const std::lock_guard lock(mutex_);
  from_file_ = std::move(digests);
  return {};
}

bool ApiKeys::required() const {
  const std::lock_guard lock(mutex_);
  return !given_.empty() || !from_file_.empty();
}

std::optional<std::string> ApiKeys::salt_of(std::string_view authorization) const {
  constexpr size_t kScheme = 7;  // "Bearer ", in any case
  const std::lock_guard lock(mutex_);
  if (given_.empty() && from_file_.empty()) return std::string();
  const bool has_scheme =
      authorization.size() > kScheme && strncasecmp(authorization.data(), "Bearer ", kScheme) == 0;
  const Digest digest =
      digest_of(has_scheme ? trimmed(authorization.substr(kScheme)) : std::string_view());
  bool known = false;
  for (const auto* list : {&given_, &from_file_}) {
    for (const Digest& each : *list) {
      known |= CRYPTO_memcmp(each.data(), digest.data(), digest.size()) == 0;
    }
  }
  if (!known || !has_scheme) return std::nullopt;
  return std::string(digest.begin(), digest.end());
}

}  // namespace lockstep
