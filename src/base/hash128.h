// XXH3-128: tells contents apart and finds damage. Not for secrets, and not against whoever forges
// contents on purpose.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lockstep {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;  // 32 digits
};

Hash128 hash128(std::span<const std::byte> bytes);

// The same hash of bytes that come in pieces.
class Hasher128 {
 public:
  Hasher128();
  void add(std::span<const std::byte> bytes);
  Hash128 finish() const;

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

}  // namespace lockstep
