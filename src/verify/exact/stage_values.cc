#include "verify/exact/stage_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lockstep::verify {
namespace {

std::string with_bits(float value) {
  return fmt::format("{} (0x{:08x})", value, std::bit_cast<uint32_t>(value));
}

std::string difference(const StageValues& got, const StageValues& want) {
  const std::string where = fmt::format("layer {}, {}", got.layer, got.stage);
  if (got.stage != want.stage || got.layer != want.layer ||
      got.values.size() != want.values.size()) {
    return fmt::format("{}, want layer {}, {}: another way through the model", where, want.layer,
                       want.stage);
  }
  for (size_t i = 0; i < got.values.size(); ++i) {
    const float a = got.values[i], b = want.values[i];
    if (std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b)) continue;
    return fmt::format("{}, column {}: {}, want {}", where, i, with_bits(a), with_bits(b));
  }
  return {};
}

}  // namespace

std::string first_difference(std::span<const StageValues> got, std::span<const StageValues> want) {
  if (got.size() != want.size()) {
    return fmt::format("{} stages, want {}", got.size(), want.size());
  }
  for (size_t i = 0; i < got.size(); ++i) {
    std::string found = difference(got[i], want[i]);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace lockstep::verify
