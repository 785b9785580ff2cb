#include "runtime/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

int64_t pages(int64_t context) { return (context + kKvBlock - 1) / kKvBlock; }

}  // namespace

MemoryPlan plan_memory(const Model& model, const PassLimits& limits, int64_t context) {
  const StateShape& shape = model.state_shape();
  return {
      .weights = weight_bytes(model.checkpoint()),
      .kv = static_cast<uint64_t>(pages(context)) * shape.page_bytes(),
      .state = 2 * shape.recurrent_floats() * sizeof(float),
      .workspace = ForwardPass::workspace_bytes(model.config(), limits),
      .reserve = kProgramBytes + kBytesPerEntry * static_cast<uint64_t>(model.config().vocab_size)};
}

Status check_fits(const MemoryPlan& plan, int64_t context, uint64_t available) {
  if (plan.total() <= available) return {};
  return Error{
      ErrorCode::kOutOfMemory,
      fmt::format("a context of {} needs {} ({} weights, {} keys and values, {} state, {} "
                  "workspace, {} reserve), {} are free",
                  context, format_bytes(plan.total()), format_bytes(plan.weights),
                  format_bytes(plan.kv), format_bytes(plan.state), format_bytes(plan.workspace),
                  format_bytes(plan.reserve), format_bytes(available))};
}

Result<int64_t> largest_context(const Model& model, const PassLimits& limits, uint64_t available) {
  const int64_t most = model.config().max_positions;
  const int64_t least = std::min(most, kLeastContext);
  LOCKSTEP_RETURN_IF_ERROR(check_fits(plan_memory(model, limits, least), least, available));
  const uint64_t page = model.state_shape().page_bytes();
  if (page == 0) return most;
  const uint64_t left = available - plan_memory(model, limits, 0).total();
  const uint64_t fitting = std::min<uint64_t>(left / page, static_cast<uint64_t>(pages(most)));
  return std::min(most, static_cast<int64_t>(fitting) * kKvBlock);
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
