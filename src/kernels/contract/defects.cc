#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/contract/contexts.h"
#include "kernels/contract/gates.h"

namespace lockstep::contract {
namespace {

int64_t count_of(const Call& call, size_t output) {
  const OutputSpec& spec = call.specs[output];
  const int64_t rows =
      spec.per_stream ? static_cast<int64_t>(call.segments.size()) : rows_of(call.segments);
  return rows * spec.width;
}

// Calls change(value) for every value of every output.
template <typename Change>
void for_each_value(const Call& call, CallOutputs& outputs, const Change& change) {
  for (size_t o = 0; o < call.specs.size(); ++o) {
    for (int64_t i = 0; i < count_of(call, o); ++i) change(outputs.data(o)[i]);
  }
}

// One unit in the last place of the first value.
void nudge(CallOutputs& outputs) {
  float& value = outputs.data(0)[0];
  value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ 1u);
}

void nan_to_zero(const Call& call, CallOutputs& outputs) {
  for_each_value(call, outputs, [](float& value) {
    if (std::isnan(value)) value = 0.0f;
  });
}

void swap_rows(const Call& call, CallOutputs& outputs) {
  const int64_t rows = rows_of(call.segments);
  if (rows < 2) return;
  for (size_t o = 0; o < call.specs.size(); ++o) {
    if (call.specs[o].per_stream) continue;
    const int64_t width = call.specs[o].width;
    float* first = outputs.data(o);
    std::swap_ranges(first, first + width, first + (rows - 1) * width);
  }
}

void depend_on_row_count(const Call& call, CallOutputs& outputs) {
  if (rows_of(call.segments) > 3) nudge(outputs);
}

void spread_nan(const Call& call, CallOutputs& outputs) {
  bool found = false;
  for_each_value(call, outputs, [&](float& value) { found = found || std::isnan(value); });
  if (!found || call.segments.size() < 2) return;
  for_each_value(call, outputs,
                 [](float& value) { value = std::numeric_limits<float>::quiet_NaN(); });
}

void skip_last(const Call& call, CallOutputs& outputs) {
  outputs.guarded(0).poison_at(count_of(call, 0) - 1);
}

void write_past_the_end(const Call& call, CallOutputs& outputs) {
  outputs.data(0)[count_of(call, 0)] = 0.0f;
}

void write_before_the_start(const Call&, CallOutputs& outputs) { outputs.data(0)[-1] = 0.0f; }

void depend_on_threads(const Call& call, CallOutputs& outputs) {
  if (call.context.pool.threads() == 3) nudge(outputs);
}

void depend_on_isa(const Call& call, CallOutputs& outputs) {
  if (call.context.isa == Isa::kScalar) nudge(outputs);
}

void depend_on_repeat(const Call& call, CallOutputs& outputs) {
  if (call.number % 3 == 1) nudge(outputs);
}

void scale_by_a_thousandth(const Call& call, CallOutputs& outputs) {
  for_each_value(call, outputs, [](float& value) { value *= 1.001f; });
}

}  // namespace

std::vector<Defect> planted_defects() {
  std::vector<Defect> defects = {
      {.gate = Gate::kNonFinite, .name = "NaN becomes 0", .spoil = nan_to_zero},
      {.gate = Gate::kRows, .name = "two rows of a call swapped", .spoil = swap_rows},
      {.gate = Gate::kRows,
       .name = "bits depend on the number of rows",
       .spoil = depend_on_row_count},
      {.gate = Gate::kRows, .name = "NaN spreads to the other rows", .spoil = spread_nan},
      {.gate = Gate::kRepeat, .name = "last value not written", .spoil = skip_last},
      {.gate = Gate::kRepeat,
       .name = "one value written past the end",
       .spoil = write_past_the_end},
      {.gate = Gate::kRepeat,
       .name = "one value written before the start",
       .spoil = write_before_the_start},
      {.gate = Gate::kRepeat,
       .name = "bits depend on the number of threads",
       .spoil = depend_on_threads},
      {.gate = Gate::kRepeat, .name = "bits change on repeat", .spoil = depend_on_repeat},
      {.gate = Gate::kPrecision, .name = "a thousandth too large", .spoil = scale_by_a_thousandth},
      {.gate = Gate::kLimits,
       .name = "a kernel missing for an instruction set",
       .row_missing = true},
      {.gate = Gate::kLimits, .name = "a size beyond its limit", .limit_broken = true},
  };
  if (available_isas().size() > 1) {
    defects.push_back({.gate = Gate::kRepeat,
                       .name = "bits depend on the instruction set",
                       .spoil = depend_on_isa});
  }
  return defects;
}

}  // namespace lockstep::contract
