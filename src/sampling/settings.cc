#include "sampling/settings.h"

#include <fmt/format.h>

#include <random>

namespace lockstep {
namespace {

// False for a NaN.
bool within(double value, double low, double high) { return value >= low && value <= high; }

Error out_of_range(const char* name, double value, const char* allowed) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} is {}; it must be {}", name, value, allowed)};
}

}  // namespace

Status check_settings(const SamplingSettings& settings) {
  if (!within(settings.temperature, 0.0, 100.0)) {
    return out_of_range("temperature", settings.temperature, "from 0 (greedy) to 100");
  }
  if (settings.top_k < 0 || settings.top_k >= int64_t{1} << 31) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("top_k is {}; it must be from 0 (off) to 2147483647", settings.top_k)};
  }
  if (!within(settings.top_p, 0.0, 1.0) || settings.top_p == 0.0) {
    return out_of_range("top_p", settings.top_p, "above 0 and at most 1 (off)");
  }
  if (!within(settings.min_p, 0.0, 1.0)) {
    return out_of_range("min_p", settings.min_p, "from 0 (off) to 1");
  }
  return {};
}

uint64_t random_seed() {
  std::random_device device;
  const uint64_t bits = uint64_t{device()} << 32 | device();
  return bits >> 11;
}

}  // namespace lockstep
