// Who may ask. Keys are kept and compared as SHA-256 digests, in constant time.
#pragma once

#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep {

class ApiKeys {
 public:
  // `file` holds a key a line ('#' begins a comment) and may be read by its owner alone; empty:
  // none. No key at all: everybody may ask.
  static Result<ApiKeys> make(const std::vector<std::string>& keys, std::filesystem::path file);

  // Reads the file again. On an error the keys stay as they were.
  Status reload();

  bool required() const;
  // The salt of the caller's prompt cache: a digest of the key, empty where none is required.
  // Nothing: the key is missing or wrong. `authorization` is the header, "Bearer KEY".
  std::optional<std::string> salt_of(std::string_view authorization) const;

  ApiKeys(ApiKeys&& other) noexcept;

 private:
  using Digest = std::array<unsigned char, 32>;
  ApiKeys() = default;
  static Digest digest_of(std::string_view text);
  Result<std::vector<Digest>> read_file() const;

  mutable std::mutex mutex_;
  std::vector<Digest> given_;
  std::vector<Digest> from_file_;
  std::filesystem::path file_;
};

}  // namespace lockstep
