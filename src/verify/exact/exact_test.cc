#include "verify/exact/exact.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/isa.h"
#include "checkpoint/checkpoint.h"
#include "verify/exact/replies.h"

namespace lockstep::verify {
namespace {

namespace fs = std::filesystem;

struct Opened {
  Tokenizer tokenizer;
  Model model;
};

Opened open_embedded(const std::string& name, Precision precision) {
  const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "models" / name;
  Tokenizer tokenizer = load_tokenizer(folder / "tokenizer.json").value();
  Checkpoint checkpoint = open_checkpoint(folder, {}).value();
  const ModelOptions options = {.precision = precision, .token_limit = tokenizer.vocab_size()};
  Model model = Model::make(std::move(checkpoint), options).value();
  return {std::move(tokenizer), std::move(model)};
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kNeon, Isa::kScalar}) {
    if (isa_available(isa)) isas.push_back(isa);
  }
  return isas;
}

struct Embedded {
  const char* name;
  const char* folder;
  Precision precision;
  const char* hash;  // of the built-in prompts' logits: any machine and compiler must give it
};

class Exact : public ::testing::TestWithParam<Embedded> {
 protected:
  Opened opened_ = open_embedded(GetParam().folder, GetParam().precision);
  std::vector<Prompt> prompts_ = built_in_prompts(opened_.tokenizer).value();
  ExactOptions options_ = {
      .cases = {.threads = 1, .thread_counts = {1, 2, 7}, .isas = available_isas()},
      .progress = {}};

  void expect_green() {
    Report report("exact", [](const Clause& clause) {
      if (clause.verdict == Verdict::kFail) ADD_FAILURE() << to_text(clause);
    });
    const Status status = check_exact(opened_.model, prompts_, options_, report);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(report.clauses().size(),
              exact_cases(prompts_, options_.cases).size() + reply_cases(options_.cases).size());
  }
};

// The gate of tests/mutants/exact.toml.
TEST_P(Exact, QuickSchedulesGiveTheSameBits) {
  options_.cases.quick = true;
  expect_green();
}

TEST_P(Exact, LogitsAreThoseOfEveryMachine) {
  const auto hash = logits_hash(opened_.model, prompts_, options_.cases);
  ASSERT_TRUE(hash.ok()) << hash.error().message;
  EXPECT_EQ(to_string(hash.value()), GetParam().hash);
}

constexpr Embedded kDenseInt8 = {"DenseInt8", "tiny-dense-mlx-4bit", Precision::kInt8,
                                 "189f3b947d85839fdcc1dbad8cb5e405"};
constexpr Embedded kMoeInt8 = {"MoeInt8", "tiny-moe-mlx-4bit", Precision::kInt8,
                               "773ba9d79879c61ae1282b089b0cfec8"};
constexpr Embedded kDenseFull = {"DenseFull", "tiny-dense-mlx-4bit", Precision::kFull,
                                 "086d255d9155e141deed161787acf146"};
constexpr Embedded kMoeFull = {"MoeFull", "tiny-moe-mlx-4bit", Precision::kFull,
                               "45b596d6d4d2e54f9a35034fe8180141"};

std::string name_of(const ::testing::TestParamInfo<Embedded>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Embedded, Exact,
                         ::testing::Values(kDenseInt8, kDenseFull, kMoeInt8, kMoeFull), name_of);

class ExactInFull : public Exact {};

TEST_P(ExactInFull, EveryScheduleGivesTheSameBits) { expect_green(); }

INSTANTIATE_TEST_SUITE_P(Embedded, ExactInFull, ::testing::Values(kDenseInt8, kMoeInt8), name_of);

TEST(ExactCases, WidestRoundHasRoomInAPass) {
  const std::vector<Prompt> prompts = {Prompt(40, 1), Prompt(300, 2)};
  EXPECT_EQ(exact_rows(prompts, {.thread_counts = {1}, .isas = {Isa::kScalar}}), 300);
}

}  // namespace
}  // namespace lockstep::verify
