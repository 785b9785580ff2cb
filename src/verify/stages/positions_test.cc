#include "verify/stages/positions.h"

#include <gtest/gtest.h>

namespace lockstep::verify {
namespace {

TEST(Positions, AreReadAscendingWithoutRepeats) {
  EXPECT_EQ(parse_positions("all", 3).value(), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(parse_positions("5,1-3,2,last", 9).value(), (std::vector<int32_t>{1, 2, 3, 5, 8}));
  EXPECT_EQ(parse_positions("7-last", 9).value(), (std::vector<int32_t>{7, 8}));
}

TEST(Positions, OthersAreRefused) {
  for (const char* text : {"", ",", "1,", "x", "-1", "3-1", "1-2-3", "1.5", "9",
                           "99999999999999999999", "0-9", " 1"}) {
    EXPECT_FALSE(parse_positions(text, 9).ok()) << text;
  }
}

}  // namespace
}  // namespace lockstep::verify
