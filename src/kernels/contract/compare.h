// Comparisons for kernel tests. Each returns an empty string if the case holds, else one sentence
// with the case (kernel, shape, seed), the first bad coordinate, both values and their distance in
// units of the last place: EXPECT_EQ(compare_bits(...), "").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::contract {

// What a failure message has to say about its case.
struct Case {
  std::string kernel;
  std::vector<int64_t> shape;  // of the compared output, row-major; coordinates are printed by it
  uint64_t seed = 0;
};

// Distance between neighbouring float32 values at |x|; of the smallest subnormal below 2^-126.
double ulp_at(double x);

// Equal bits, but any NaN equals any NaN: which payload survives an operation is the processor's
// and the compiler's choice.
std::string compare_bits(const Case& test, std::span<const float> got, std::span<const float> want);
std::string compare_bits(const Case& test, std::span<const int32_t> got,
                         std::span<const int32_t> want);

// |got - want| <= bound, element by element. A NaN must meet a NaN, an infinity the same infinity;
// a finite `want` beyond the float32 range may come out as that infinity.
std::string compare_within(const Case& test, std::span<const float> got,
                           std::span<const double> want, std::span<const double> bound);

// The same with bound = `ulps` units of the last place of want.
std::string compare_ulps(const Case& test, std::span<const float> got, std::span<const double> want,
                         double ulps);

// Row by row (shape's last dimension): |got - want|_2 <= bound * |want|_2.
std::string compare_norms(const Case& test, std::span<const float> got,
                          std::span<const double> want, double bound);

}  // namespace lockstep::contract
