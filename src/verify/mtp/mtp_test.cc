// The draft head of the embedded models against the committed figures of transformers, in both
// conventions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/testing/figures.h"
#include "model/testing/runner.h"
#include "verify/mtp/mtp.h"

namespace lockstep::verify {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// The figures of a prompt as a dump: they have the four largest logits of each row, so the others
// count as masked.
StageDump reference_of(const testing::Figures& figures, const Model& model, int prompt) {
  const auto read = [&](const char* kind, const char* what) {
    return fmt::format("p{}.mtp_{}_{}", prompt, kind, what);
  };
  StageDump dump;
  dump.identity = {.producer = "transformers",
                   .source = "other",
                   .precision = "float32",
                   .weights = weights_checksum(model.checkpoint()),
                   .vocab = model.config().vocab_size};
  dump.ids = figures.read<int32_t>(fmt::format("p{}.ids", prompt));
  for (size_t i = 0; i + 1 < dump.ids.size(); ++i) {
    dump.positions.push_back(static_cast<int32_t>(i));
  }
  const auto vocab = static_cast<size_t>(dump.identity.vocab);
  for (const char* kind : {"post", "pre"}) {
    const auto ids = figures.read<int32_t>(read(kind, "ids"));
    const auto logits = figures.read<float>(read(kind, "logits"));
    std::vector<float>& rows =
        dump.at(fmt::format("mtp_{}.logits", kind), dump.identity.vocab).data;
    rows.assign(dump.positions.size() * vocab, kMasked);
    for (size_t i = 0; i < ids.size(); ++i) {
      rows[i / 4 * vocab + static_cast<size_t>(ids[i])] = logits[i];
    }
  }
  return dump;
}

class Mtp : public ::testing::TestWithParam<const char*> {
 protected:
  Result<MtpResult> compare(const StageDump& reference) {
    return compare_mtp(model_, {.pool = pool_, .isa = best_isa()}, reference, {});
  }

  ThreadPool pool_{2};
  Model model_ = testing::load_embedded(GetParam(), Precision::kFull);
  testing::Figures figures_{GetParam(), testing::embedded_folder(GetParam())};
};

TEST_P(Mtp, BothConventionsAgreeWithTheFigures) {
  Acceptance all;
  for (const int prompt : {0, 1, 2, 3}) {
    const auto result = compare(reference_of(figures_, model_, prompt));
    ASSERT_TRUE(result.ok()) << result.error().message;
    Report report("mtp");
    judge_mtp(result.value(), report);
    EXPECT_EQ(report.clauses().size(), 4u);
    EXPECT_TRUE(report.green()) << to_text(report.clauses().front());
    const Acceptance& found = result.value().acceptance;
    EXPECT_EQ(found.drafts, result.value().comparison.positions);
    all.drafts += found.drafts;
    all.post += found.post;
    all.pre += found.pre;
  }
  fmt::print("clause draft acceptance: {} drafts, {} after the norm, {} before it\n", all.drafts,
             all.post, all.pre);
  EXPECT_GT(all.post, all.drafts / 2);
}

TEST_P(Mtp, SwappedConventionsAreRed) {
  StageDump reference = reference_of(figures_, model_, 0);
  std::swap(reference.stages[0].data, reference.stages[1].data);
  const auto result = compare(reference);
  ASSERT_TRUE(result.ok()) << result.error().message;
  Report report("mtp");
  judge_mtp(result.value(), report);
  EXPECT_FALSE(report.green());
}

TEST_P(Mtp, RefusesWhatCannotBeCompared) {
  const StageDump good = reference_of(figures_, model_, 3);
  StageDump bad = good;
  bad.identity.weights = "00000000";
  EXPECT_NE(compare(bad).error().message.find("other weights"), std::string::npos);
  bad = good;
  bad.identity.vocab += 1;
  EXPECT_NE(compare(bad).error().message.find("vocabulary"), std::string::npos);
  bad = good;
  bad.stages[0].name = "embed";
  bad.stages[1].name = "final_norm";
  EXPECT_NE(compare(bad).error().message.find("neither"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Embedded, Mtp, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep::verify
