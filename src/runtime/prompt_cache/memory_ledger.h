// What a set of states holds in memory: pages that several of them share are counted once.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "model/sequence_state.h"

namespace lockstep {

class MemoryLedger {
 public:
  void add(const SequenceState& state);
  void remove(const SequenceState& state);
  uint64_t bytes() const { return bytes_; }

  // Of one state alone.
  static uint64_t bytes_of(const SequenceState& state);

 private:
  std::unordered_map<const std::byte*, int64_t> holders_;  // by where a page lies
  uint64_t bytes_ = 0;
};

}  // namespace lockstep
