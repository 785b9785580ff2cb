// The engine's own launches against the plan, and the plan of every name.
#include "verify/kernels/plan.h"

#include <gtest/gtest.h>

#include <numeric>

#include "checkpoint/checkpoint.h"
#include "checkpoint/synth/shapes.h"
#include "checkpoint/synth/synth.h"
#include "checkpoint/testing/temporary_folder.h"
#include "kernels/add/add.h"
#include "kernels/contract/op_contract.h"
#include "kernels/launch.h"
#include "model/forward_pass.h"
#include "verify/kernels/shape_model.h"

namespace lockstep::verify {
namespace {

Model open(const std::filesystem::path& folder, Precision precision) {
  Result<Checkpoint> checkpoint = open_checkpoint(folder, {});
  LOCKSTEP_CHECK(checkpoint.ok(), checkpoint.error().message);
  Result<Model> model = Model::make(std::move(checkpoint).value(), {.precision = precision});
  LOCKSTEP_CHECK(model.ok(), model.error().message);
  return std::move(model).value();
}

// A chunk, one row, a window of which a part is committed (so that it is replayed), and a draft.
void run_everything(const Model& model, LaunchLog& log) {
  ThreadPool pool(2);
  const CpuContext context{.pool = pool, .isa = best_isa(), .launches = &log};
  ForwardPass pass(model, context, {.rows = 32, .logit_rows = 4});
  SequenceState sequence(model.state_shape());
  WindowTrace window(model.config(), 4);
  for (const int64_t rows : {20, 1, 4}) {
    RowBatch batch;
    batch.segments = {
        {.sequence = &sequence, .rows = rows, .window = rows == 4 ? &window : nullptr}};
    batch.ids.resize(static_cast<size_t>(rows));
    std::iota(batch.ids.begin(), batch.ids.end(), 1);
    batch.logit_rows = {rows - 1};
    Result<RoundOutput> output = pass.forward(batch);
    ASSERT_TRUE(output.ok()) << output.error().message;
    const std::vector<float> hidden(output.value().hidden.begin(), output.value().hidden.end());
    const int64_t accepted[] = {rows == 4 ? 2 : rows};
    pass.commit(batch, accepted);
    if (!model.weights().mtp) continue;
    SequenceState draft(model.draft_state_shape());
    const std::vector<int64_t> last = {rows - 1};
    const BatchSegment segment = {.sequence = &draft, .rows = rows};
    const DraftBatch drafts = {
        .segments = {&segment, 1}, .hidden = hidden, .ids = batch.ids, .logit_rows = last};
    ASSERT_TRUE(pass.draft(drafts).ok());
  }
}

void expect_covered(const std::filesystem::path& folder) {
  LaunchLog log;
  std::vector<ShapeClass> planned;
  for (const Precision precision : {Precision::kInt8, Precision::kFull}) {
    const Model model = open(folder, precision);
    planned = plan_launches(model.config(), model.weights());
    run_everything(model, log);
  }
  EXPECT_EQ(uncovered(log, planned), std::vector<std::string>());
  EXPECT_GE(log.launches().size(), 20u);
}

std::filesystem::path embedded(const std::string& name) {
  return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models" / name;
}

TEST(Plan, HoldsEveryLaunchOfTheEmbeddedModels) {
  expect_covered(embedded("tiny-dense-mlx-4bit"));
  expect_covered(embedded("tiny-moe-mlx-4bit"));
}

TEST(Plan, HoldsEveryLaunchOfTheMicroShapes) {
  for (const SynthShape& shape : synth_shapes()) {
    if (!shape.name.starts_with("micro-")) continue;
    const TemporaryFolder folder;
    ASSERT_TRUE(write_synthetic_checkpoint(shape, folder.path() / "model").ok());
    expect_covered(folder.path() / "model");
  }
}

TEST(Plan, OfANameIsThatOfItsCheckpoint) {
  const TemporaryFolder folder;
  for (const char* name : {"micro-r3", "micro-moe16"}) {
    const std::filesystem::path path = folder.path() / name;
    ASSERT_TRUE(write_synthetic_checkpoint(find_synth_shape(name).value(), path).ok());
    const Model model = open(path, Precision::kInt8);
    const ShapeModel named = shape_model(name).value();
    std::vector<std::string> written, planned;
    for (const ShapeClass& shape : plan_launches(model.config(), model.weights())) {
      written.push_back(shape.key());
    }
    for (const ShapeClass& shape : plan_launches(named.config, named.weights)) {
      planned.push_back(shape.key());
    }
    EXPECT_EQ(planned, written);
  }
}

TEST(Plan, EveryNameHasOne) {
  for (const SynthShape& shape : synth_shapes()) {
    const Result<ShapeModel> model = shape_model(shape.name);
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_GE(plan_launches(model.value().config, model.value().weights).size(), 30u);
  }
  EXPECT_FALSE(shape_model("70b").ok());
}

void rogue_kernel(const AddArgs&, int64_t, int64_t) {}

TEST(Uncovered, NamesAKernelAShapeAndAnOpThatNothingHolds) {
  const ShapeModel model = shape_model("micro-r1").value();
  const std::vector<ShapeClass> planned = plan_launches(model.config, model.weights);
  LaunchLog log;
  for (const ShapeClass& shape : planned) {
    log.record(contract::find_contract(shape.op)->kernels().front().name, shape);
  }
  EXPECT_EQ(uncovered(log, planned), std::vector<std::string>());

  // An op that launches what its registry lacks, at a width that the model does not have.
  ThreadPool pool(1);
  const CpuContext context{.pool = pool, .isa = Isa::kScalar, .launches = &log};
  using Kernel = void(const AddArgs&, int64_t, int64_t);
  constexpr KernelRow<Kernel> kRows[] = {{"rogue_scalar", Isa::kScalar, rogue_kernel}};
  pick_kernel(context, kRows, AddArgs{.n = 12345});
  log.record("add_range_scalar", {.op = "subtract", .dims = {}});
  EXPECT_EQ(
      uncovered(log, planned),
      (std::vector<std::string>{"subtract has no contract",
                                "add_range_scalar was launched at subtract, which the plan lacks",
                                "rogue_scalar was launched and no op registered it",
                                "rogue_scalar was launched at add n=12345, which the plan lacks"}));
  EXPECT_EQ(uncovered(LaunchLog(), planned).size(), planned.size());
}

}  // namespace
}  // namespace lockstep::verify
