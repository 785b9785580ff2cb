#include "verify/eval/eval.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "checkpoint/mapped_file.h"
#include "model/testing/runner.h"

namespace lockstep::verify {
namespace {

// tests/figures/eval.json: ids of a text, and the losses that python/eval_figures.py found with the
// float64 model of python/.
json::object figures() {
  const auto text = read_text_file(
      std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/figures/eval.json", 1 << 20);
  LOCKSTEP_CHECK(text.ok(), text.error().message);
  return parse_json(text.value(), "eval.json").value().as_object();
}

std::vector<int32_t> ids_of(const json::object& object) {
  std::vector<int32_t> ids;
  for (const json::value& id : object.at("ids").as_array()) ids.push_back(id.to_number<int32_t>());
  return ids;
}

TEST(EvalWindows, EveryIdButTheFirstIsScoredOnce) {
  for (const auto& [ids, window, stride] : {std::tuple<int64_t, int64_t, int64_t>{2, 2, 1},
                                            {100, 2, 1},
                                            {100, 16, 8},
                                            {100, 16, 15},
                                            {17, 16, 3},
                                            {16, 16, 8},
                                            {1000, 512, 256}}) {
    const auto plan = plan_windows(ids, {window, stride});
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    int64_t next = 1;
    for (const EvalWindow& each : plan.value()) {
      EXPECT_EQ(each.first_scored, next);
      EXPECT_LE(each.end - each.begin, window);
      EXPECT_GT(each.end, each.first_scored);
      EXPECT_GE(each.first_scored - each.begin, each.begin > 0 ? window - stride : 1);
      next = each.end;
    }
    EXPECT_EQ(next, ids);
  }
  EXPECT_FALSE(plan_windows(1, {}).ok());
  EXPECT_FALSE(plan_windows(9, {1, 1}).ok());
  EXPECT_FALSE(plan_windows(9, {4, 0}).ok());
  EXPECT_FALSE(plan_windows(9, {4, 4}).ok());
}

class Eval : public ::testing::TestWithParam<const char*> {
 protected:
  Result<EvalReport> run(const Model& model, const Model* reference, int threads = 2) {
    ThreadPool pool(threads);
    return evaluate(model, reference, {.pool = pool, .isa = best_isa()}, ids_of(figures()),
                    windows_, {});
  }

  EvalWindows windows_ = {figures().at("window").to_number<int64_t>(),
                          figures().at("stride").to_number<int64_t>()};
};

TEST_P(Eval, PerplexityIsThatOfTheFloat64Model) {
  const json::object all = figures();
  const json::object& want = all.at("models").as_object().at(GetParam()).as_object();
  const auto found = run(testing::load_embedded(GetParam(), Precision::kFull), nullptr);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().result.scored, std::ssize(ids_of(figures())) - 1);
  const double perplexity = want.at("perplexity").to_number<double>();
  EXPECT_NEAR(found.value().result.perplexity() / perplexity, 1.0, 1e-5);
  EXPECT_GT(perplexity, 1.0);
  fmt::print("clause perplexity: {:.6f}, float64 {:.6f}\n", found.value().result.perplexity(),
             perplexity);
}

TEST_P(Eval, Int8IsNearFullAndTheSameEveryTime) {
  const Model full = testing::load_embedded(GetParam(), Precision::kFull);
  const Model int8 = testing::load_embedded(GetParam(), Precision::kInt8);
  const auto one = run(int8, &full);
  const auto two = run(int8, &full, 1);
  ASSERT_TRUE(one.ok() && two.ok());
  const EvalDifference& against = one.value().against.value();
  EXPECT_EQ(one.value().result.mean_loss, two.value().result.mean_loss);
  EXPECT_EQ(against.mean_kl, two.value().against->mean_kl);
  EXPECT_GT(against.mean_kl, 0.0);
  EXPECT_GE(against.worst_kl, against.mean_kl);
  EXPECT_EQ(against.reference.mean_loss, run(full, nullptr).value().result.mean_loss);
  EXPECT_GT(against.agreeing, one.value().result.scored * 9 / 10);
  const EvalReport self = run(full, &full).value();
  EXPECT_EQ(self.against->mean_kl, 0.0);
  EXPECT_EQ(self.against->agreeing, self.result.scored);
  fmt::print("clause int8 against full: KL {:.3e}, worst {:.3e}, top 1 {} of {}\n", against.mean_kl,
             against.worst_kl, against.agreeing, one.value().result.scored);
}

INSTANTIATE_TEST_SUITE_P(Embedded, Eval, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep::verify
