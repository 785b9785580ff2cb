#include "apps/console.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(WithoutControls, KeepsTextAndLineBreaksAndNothingThatDrivesATerminal) {
  EXPECT_EQ(without_controls("Gr\u00fc\u00dfe,\tline\r\nline \U0001F600 \u00a0"),
            "Gr\u00fc\u00dfe,\tline\r\nline \U0001F600 \u00a0");
  EXPECT_EQ(without_controls("\x1b[2J\r\x07\x7f"), "?[2J???");
  EXPECT_EQ(without_controls("a\xc2\x9b"
                             "31mb\xc2"),
            "a?31mb\xc2");
}

}  // namespace
}  // namespace lockstep
