#include "runtime/prompt_cache/memory_ledger.h"

#include "base/check.h"

namespace lockstep {
namespace {

uint64_t own_bytes(const SequenceState& state) {
  return state.shape().recurrent_floats() * sizeof(float);
}

int64_t page_count(const SequenceState& state) {
  if (state.shape().attention_layers == 0) return 0;
  return (state.position() + kKvBlock - 1) / kKvBlock;
}

}  // namespace

uint64_t MemoryLedger::bytes_of(const SequenceState& state) {
  return own_bytes(state) + static_cast<uint64_t>(page_count(state)) * state.shape().page_bytes();
}

void MemoryLedger::add(const SequenceState& state) {
  bytes_ += own_bytes(state);
  for (int64_t page = 0; page < page_count(state); ++page) {
    if (++holders_[state.blocks(0)[page]] == 1) bytes_ += state.shape().page_bytes();
  }
}

void MemoryLedger::remove(const SequenceState& state) {
  bytes_ -= own_bytes(state);
  for (int64_t page = 0; page < page_count(state); ++page) {
    const auto holder = holders_.find(state.blocks(0)[page]);
    LOCKSTEP_CHECK(holder != holders_.end(), "a state that was not counted");
    if (--holder->second > 0) continue;
    holders_.erase(holder);
    bytes_ -= state.shape().page_bytes();
  }
}

}  // namespace lockstep
