#include "verify/report.h"

#include <gtest/gtest.h>

namespace lockstep::verify {
namespace {

TEST(Report, SaysWhatHeldAsItIsDecided) {
  std::vector<std::string> heard;
  Report report("exact", [&](const Clause& clause) { heard.push_back(to_text(clause)); });
  report.add("chunks of 7", true, "270 rows", "not said");
  report.add("threads", true);
  EXPECT_EQ(heard, (std::vector<std::string>{"clause chunks of 7: PASS (270 rows)",
                                             "clause threads: PASS"}));
  EXPECT_TRUE(report.green());
  EXPECT_EQ(report.summary(), "verify exact: GREEN, 2 clauses");
}

TEST(Report, OneFailureIsRed) {
  Report report("exact");
  report.add("a", true);
  report.add("b", false, "1 row", "layer 3\nrow 5: 1 and 2");
  EXPECT_EQ(to_text(report.clauses()[1]), "clause b: FAIL (1 row)\n  layer 3\n  row 5: 1 and 2");
  EXPECT_FALSE(report.green());
  EXPECT_EQ(report.summary(), "verify exact: RED, 1 of 2 clauses failed");
  EXPECT_EQ(dump_json(report.to_json()),
            R"({"check": "exact", "green": false, "clauses": [)"
            R"({"name": "a", "pass": true, "figure": "", "detail": ""}, )"
            R"({"name": "b", "pass": false, "figure": "1 row", )"
            R"("detail": "layer 3\nrow 5: 1 and 2"}]})");
}

TEST(Report, NothingCheckedIsNotGreen) {
  const Report report("kernels");
  EXPECT_FALSE(report.green());
  EXPECT_EQ(report.summary(), "verify kernels: RED, nothing was checked");
}

}  // namespace
}  // namespace lockstep::verify
