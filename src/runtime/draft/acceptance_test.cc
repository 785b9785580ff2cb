#include "runtime/draft/acceptance.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Acceptance, AssumesAlikePlacesBeforeAnythingWasSeen) {
  const Acceptance acceptance(0.5);
  EXPECT_DOUBLE_EQ(acceptance.survival(0), 0.5);
  EXPECT_DOUBLE_EQ(acceptance.survival(2), 0.125);
}

TEST(Acceptance, FollowsWhatIsSeen) {
  Acceptance good(0.5), bad(0.5);
  for (int i = 0; i < 40; ++i) {
    good.note(4, 4);
    bad.note(4, 0);
  }
  EXPECT_GT(good.survival(3), 0.8);
  EXPECT_LT(bad.survival(0), 0.1);
}

TEST(Acceptance, ADraftAfterAWrongOneSaysNothing) {
  Acceptance acceptance(0.5);
  for (int i = 0; i < 100; ++i) acceptance.note(4, i % 2 == 0 ? 4 : 0);
  EXPECT_NEAR(acceptance.survival(0), 0.5, 0.05);
  // The second was right whenever it was reached.
  EXPECT_GT(acceptance.survival(1) / acceptance.survival(0), 0.8);
}

TEST(Acceptance, ForgetsSoThatAChangeShows) {
  Acceptance acceptance(0.5);
  for (int i = 0; i < 200; ++i) acceptance.note(1, 0);
  EXPECT_LT(acceptance.survival(0), 0.1);
  for (int i = 0; i < 30; ++i) acceptance.note(1, 1);
  EXPECT_GT(acceptance.survival(0), 0.7);
}

TEST(Acceptance, NeverGrowsWithThePlace) {
  Acceptance acceptance(0.6);
  for (const int64_t right : {3, 0, 8, 1, 1, 5, 8, 8, 2}) {
    acceptance.note(8, right);
    for (int64_t place = 1; place < kMostDrafts; ++place) {
      EXPECT_LE(acceptance.survival(place), acceptance.survival(place - 1));
    }
  }
}

}  // namespace
}  // namespace lockstep
