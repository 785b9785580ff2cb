#include "kernels/contract/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <limits>

namespace lockstep::contract {
namespace {

std::string coordinate(const Case& test, size_t index) {
  std::vector<int64_t> position(test.shape.size());
  auto rest = static_cast<int64_t>(index);
  for (size_t axis = test.shape.size(); axis-- > 0;) {
    const int64_t extent = axis == 0 ? rest + 1 : test.shape[axis];
    position[axis] = extent == 0 ? 0 : rest % extent;
    rest = extent == 0 ? 0 : rest / extent;
  }
  return fmt::format("[{}]", fmt::join(position, ", "));
}

std::string name(const Case& test) {
  return fmt::format("{} of shape [{}], seed {}", test.kernel, fmt::join(test.shape, ", "),
                     test.seed);
}

template <typename Got, typename Want>
std::string check_sizes(const Case& test, std::span<Got> got, std::span<Want> want) {
  int64_t size = 1;
  for (int64_t extent : test.shape) size *= extent;
  if (got.size() == want.size() && got.size() == static_cast<size_t>(size)) return "";
  return fmt::format("{}: compares {} values with {}", name(test), got.size(), want.size());
}

// `bound(i)` is the error allowed in element i.
template <typename Bound>
std::string compare_elements(const Case& test, std::span<const float> got,
                             std::span<const double> want, const Bound& bound) {
  if (std::string wrong = check_sizes(test, got, want); !wrong.empty()) return wrong;
  for (size_t i = 0; i < got.size(); ++i) {
    const double x = got[i];
    const double error = std::fabs(x - want[i]);
    const bool same_nan = std::isnan(x) && std::isnan(want[i]);
    const bool same_infinity =
        std::isinf(x) && x == static_cast<double>(static_cast<float>(want[i]));
    const bool near = std::isfinite(want[i]) && error <= bound(i);
    if (same_nan || same_infinity || near) continue;
    return fmt::format(
        "{}: at {} got {:.9g} ({:#010x}), want {:.17g}: error {:.4g} ({:.4g} ulp), allowed {:.4g}",
        name(test), coordinate(test, i), got[i], std::bit_cast<uint32_t>(got[i]), want[i], error,
        error / ulp_at(want[i]), bound(i));
  }
  return "";
}

}  // namespace

double ulp_at(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude >= 0x1p-126)) return 0x1p-149;
  if (std::isinf(magnitude)) return std::numeric_limits<double>::infinity();
  const auto exponent = static_cast<int64_t>(std::bit_cast<uint64_t>(magnitude) >> 52) - 23;
  return std::bit_cast<double>(static_cast<uint64_t>(exponent) << 52);
}

std::string compare_bits(const Case& test, std::span<const float> got,
                         std::span<const float> want) {
  if (std::string wrong = check_sizes(test, got, want); !wrong.empty()) return wrong;
  for (size_t i = 0; i < got.size(); ++i) {
    const auto x = std::bit_cast<uint32_t>(got[i]);
    const auto y = std::bit_cast<uint32_t>(want[i]);
    if (x == y || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    return fmt::format("{}: at {} got {:.9g} ({:#010x}), want {:.9g} ({:#010x}): {:.4g} ulp apart",
                       name(test), coordinate(test, i), got[i], x, want[i], y,
                       std::fabs(static_cast<double>(got[i]) - want[i]) / ulp_at(want[i]));
  }
  return "";
}

std::string compare_bits(const Case& test, std::span<const int32_t> got,
                         std::span<const int32_t> want) {
  if (std::string wrong = check_sizes(test, got, want); !wrong.empty()) return wrong;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    return fmt::format("{}: at {} got {}, want {}", name(test), coordinate(test, i), got[i],
                       want[i]);
  }
  return "";
}

std::string compare_within(const Case& test, std::span<const float> got,
                           std::span<const double> want, std::span<const double> bound) {
  if (bound.size() != got.size()) return name(test) + ": one bound for each value is needed";
  return compare_elements(test, got, want, [&](size_t i) { return bound[i]; });
}

std::string compare_ulps(const Case& test, std::span<const float> got, std::span<const double> want,
                         double ulps) {
  return compare_elements(test, got, want, [&](size_t i) { return ulps * ulp_at(want[i]); });
}

std::string compare_norms(const Case& test, std::span<const float> got,
                          std::span<const double> want, double bound) {
  if (std::string wrong = check_sizes(test, got, want); !wrong.empty()) return wrong;
  const auto n = static_cast<size_t>(test.shape.empty() ? 1 : test.shape.back());
  for (size_t row = 0; row * n < got.size(); ++row) {
    double error = 0.0, norm = 0.0;
    for (size_t i = row * n; i < (row + 1) * n; ++i) {
      error += (got[i] - want[i]) * (got[i] - want[i]);
      norm += want[i] * want[i];
    }
    if (std::sqrt(error) <= bound * std::sqrt(norm)) continue;
    return fmt::format("{}: row {}: relative error {:.4g}, allowed {:.4g}", name(test),
                       coordinate(test, row * n), std::sqrt(error / norm), bound);
  }
  return "";
}

}  // namespace lockstep::contract
