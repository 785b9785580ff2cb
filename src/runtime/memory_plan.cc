#include "runtime/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/window_trace.h"
#include "runtime/engine_options.h"

namespace lockstep {
namespace {

constexpr int64_t kLeastContext = 256;
constexpr uint64_t kProgramBytes = uint64_t{64} << 20;
// Of the tokenizer: 6 MiB were measured for 12,288 entries.
constexpr uint64_t kBytesPerEntry = 512;

uint64_t weight_bytes(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  const std::vector<TensorRecord>& tensors = checkpoint.tensors.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (checkpoint.used[i]) bytes += tensors[i].bytes;
  }
  return bytes;
}

bool has_head(const Model& model) { return model.weights().mtp.has_value(); }

// Of keys and values of 64 positions, the draft head's included.
uint64_t page_bytes(const Model& model) {
  return model.state_shape().page_bytes() +
         (has_head(model) ? model.draft_state_shape().page_bytes() : 0);
}

// The setup that takes least, with what was wished for.
MemorySetup least_setup(const Model& model, const MemoryWish& wish) {
  const int64_t most = model.config().max_positions;
  MemorySetup setup = {.context = wish.context.value_or(std::min(most, kLeastContext)),
                       .streams = wish.streams.value_or(1),
                       .cache_bytes = wish.cache_bytes.value_or(0),
                       .round_rows = wish.round_rows};
  setup.pages = EngineOptions::least_pages(setup.context);
  return setup;
}

// Makes the context as long as `free` bytes allow, and takes its pages.
void extend_context(const Model& model, uint64_t free, MemorySetup& setup) {
  const int64_t most = model.config().max_positions;
  const uint64_t page = page_bytes(model);
  const int64_t most_pages = EngineOptions::least_pages(most);
  const uint64_t more = page == 0 ? UINT64_MAX : free / page;
  if (more >= static_cast<uint64_t>(most_pages - setup.pages)) {
    setup.pages = most_pages;
    setup.context = most;
  } else {
    setup.pages += static_cast<int64_t>(more);
    setup.context = std::min(most, (setup.pages - 1) * kKvBlock);
  }
}

// The longest context that fits with nothing else that could be done without.
std::string what_would_fit(const Model& model, const MemoryWish& wish, uint64_t available) {
  MemorySetup setup = least_setup(model, {.round_rows = wish.round_rows});
  const uint64_t least = plan_memory(model, setup).total();
  if (least > available)
    return "not even the least fits: a context of 256 for one stream, no cache";
  extend_context(model, available - least, setup);
  return fmt::format("a context of {} for one stream without a cache would fit", setup.context);
}

}  // namespace

MemoryPlan plan_memory(const Model& model, const MemorySetup& setup) {
  const StateShape& shape = model.state_shape();
  const auto streams = static_cast<uint64_t>(setup.streams);
  return {
      .weights = weight_bytes(model.checkpoint()),
      .kv = static_cast<uint64_t>(setup.pages) * page_bytes(model) +
            (has_head(model) ? streams * model.draft_state_shape().page_bytes() : 0),
      .state = streams * (3 * shape.recurrent_floats() * sizeof(float) +
                          WindowTrace::bytes(model.config(), kMostWindowRows)),
      .workspace = ForwardPass::workspace_bytes(model.config(), setup.pass_limits()),
      .cache = setup.cache_bytes,
      .reserve = kProgramBytes + kBytesPerEntry * static_cast<uint64_t>(model.config().vocab_size)};
}

std::string describe_plan(const MemoryPlan& plan) {
  return fmt::format(
      "{}: {} weights, {} keys and values, {} state, {} workspace, {} prompt cache, {} reserve",
      format_bytes(plan.total()), format_bytes(plan.weights), format_bytes(plan.kv),
      format_bytes(plan.state), format_bytes(plan.workspace), format_bytes(plan.cache),
      format_bytes(plan.reserve));
}

Result<MemorySetup> fit_memory(const Model& model, const MemoryWish& wish, uint64_t available) {
  MemorySetup setup = least_setup(model, wish);
  const auto left = [&] {
    const uint64_t total = plan_memory(model, setup).total();
    return total <= available ? available - total : 0;
  };
  const MemoryPlan least = plan_memory(model, setup);
  if (least.total() > available) {
    return Error{
        ErrorCode::kOutOfMemory,
        fmt::format("a context of {} for {} stream{} needs {}; {} are free, and {}", setup.context,
                    setup.streams, setup.streams == 1 ? "" : "s", describe_plan(least),
                    format_bytes(available), what_would_fit(model, wish, available))};
  }
  if (!wish.streams) {
    const uint64_t rest = left() - left() / 4;  // for all else
    while (setup.streams < kDefaultStreams) {
      ++setup.streams;
      if (left() > rest) continue;
      --setup.streams;
      break;
    }
  }
  if (!wish.cache_bytes) setup.cache_bytes = std::min(left() / 4, kDefaultCacheBytes);
  if (!wish.context) extend_context(model, left(), setup);
  const uint64_t page = std::max<uint64_t>(1, page_bytes(model));
  const int64_t all = setup.streams * EngineOptions::least_pages(setup.context);
  setup.pages +=
      static_cast<int64_t>(std::min(left() / page, static_cast<uint64_t>(all - setup.pages)));
  return setup;
}

std::string format_bytes(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

}  // namespace lockstep
