#include "bench/spread.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::bench {
namespace {

TEST(Spread, IsMedianAndQuartilesOfUnsortedValues) {
  const Spread odd = spread_of(std::vector<double>{5.0, 1.0, 4.0, 2.0, 3.0});
  EXPECT_EQ(odd.low, 2.0);
  EXPECT_EQ(odd.median, 3.0);
  EXPECT_EQ(odd.high, 4.0);
  EXPECT_EQ(odd.count, 5u);
  const Spread even = spread_of(std::vector<double>{8.0, 2.0});
  EXPECT_EQ(even.low, 3.5);
  EXPECT_EQ(even.median, 5.0);
  EXPECT_EQ(even.high, 6.5);
}

TEST(Spread, OfOneValueIsThatValueAndOfNoneIsZero) {
  const Spread one = spread_of(std::vector<double>{7.0});
  EXPECT_EQ(one.low, 7.0);
  EXPECT_EQ(one.median, 7.0);
  EXPECT_EQ(one.high, 7.0);
  EXPECT_EQ(spread_of({}).count, 0u);
}

}  // namespace
}  // namespace lockstep::bench
