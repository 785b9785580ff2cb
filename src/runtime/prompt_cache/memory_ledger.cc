#include "runtime/prompt_cache/memory_ledger.h"

#include "base/check.h"
#include "model/draft_context.h"

namespace lockstep {
namespace {

// Not shared with any other state.
uint64_t own_bytes(const SequenceState& state) {
  const auto& draft = state.draft_context();
  return state.shape().recurrent_floats() * sizeof(float) +
         (draft != nullptr ? draft->hidden_bytes() : 0);
}

int64_t page_count(const SequenceState& state) {
  if (state.shape().attention_layers == 0) return 0;
  return (state.position() + kKvBlock - 1) / kKvBlock;
}

// Calls visit(page, bytes) for the pages of a state and of what the draft head keeps with it.
template <typename Visit>
void for_each_page(const SequenceState& state, const Visit& visit) {
  for (int64_t page = 0; page < page_count(state); ++page) {
    visit(state.blocks(0)[page], state.shape().page_bytes());
  }
  if (state.draft_context() != nullptr) for_each_page(state.draft_context()->state, visit);
}

}  // namespace

uint64_t MemoryLedger::bytes_of(const SequenceState& state) {
  uint64_t bytes = own_bytes(state);
  for_each_page(state, [&](const std::byte*, size_t size) { bytes += size; });
  return bytes;
}

void MemoryLedger::add(const SequenceState& state) {
  bytes_ += own_bytes(state);
  for_each_page(state, [&](const std::byte* page, size_t size) {
    if (++holders_[page] == 1) bytes_ += size;
  });
}

void MemoryLedger::remove(const SequenceState& state) {
  bytes_ -= own_bytes(state);
  for_each_page(state, [&](const std::byte* page, size_t size) {
    const auto holder = holders_.find(page);
    LOCKSTEP_CHECK(holder != holders_.end(), "a state that was not counted");
    if (--holder->second > 0) return;
    holders_.erase(holder);
    bytes_ -= size;
  });
}

}  // namespace lockstep
