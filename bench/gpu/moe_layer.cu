#include "bench/gpu/moe_layer.cuh"

namespace lockstep::gpu_study {

using cuda::Activations;
using cuda::Affine4Tiles;
using cuda::LinearArgs;

namespace {
constexpr int kFewRun = 8, kManyRun = 128;
}

MoeLayer::MoeLayer(const MoeShape& shape, int most_rows)
    : shape_(shape),
      row_list_(size_t(most_rows) * shape.chosen),
      position_of_(row_list_.size()),
      run_count_(1),
      counts_(shape.experts),
      runs_(cuda::most_runs(static_cast<int>(row_list_.size()), shape.experts, kFewRun)),
      x_(row_list_.size() * shape.hidden),
      sums_(row_list_.size() * cuda::sum_columns(shape.hidden)),
      inner_x_(row_list_.size() * shape.inner),
      inner_sums_(row_list_.size() * cuda::sum_columns(shape.inner)),
      gate_up_(row_list_.size() * 2 * shape.inner),
      down_(row_list_.size() * shape.hidden),
      y_(size_t(most_rows) * shape.hidden) {}

LinearArgs MoeLayer::product(const Affine4Tiles& weights, const Activations& in, float* out,
                             int slots, int run_rows, bool overlap) const {
  return {.weights = weights,
          .in = in,
          .out = out,
          .runs = runs_.data(),
          .run_count = run_count_.data(),
          .max_runs = cuda::most_runs(slots, shape_.experts, run_rows),
          .matrices = shape_.experts,
          .overlap = overlap};
}

void MoeLayer::finish(const Affine4Tiles& down, int rows, int run_rows, const float* weights,
                      bool few, bool overlap) {
  const int slots = rows * shape_.chosen;
  require(cuda::silu_mul_round(kChosenWay, gate_up_.data(), slots, shape_.inner, inner_x_.data(),
                               inner_sums_.data(), overlap, study_stream()));
  const LinearArgs args = product(down, {inner_x_.data(), inner_sums_.data(), slots}, down_.data(),
                                  slots, run_rows, overlap);
  require(few ? cuda::linear_few_row(kChosenWay, args, study_stream())
              : cuda::linear_many_row_sm90(kChosenWay, args, kManyRun, study_stream()));
  require(cuda::combine_slots({.down = down_.data(),
                               .position_of = position_of_.data(),
                               .weights = weights,
                               .rows = rows,
                               .chosen = shape_.chosen,
                               .n = shape_.hidden,
                               .y = y_.data(),
                               .overlap = overlap},
                              study_stream()));
}

void MoeLayer::run_few(const Affine4Tiles& gate_up, const Affine4Tiles& down, const Activations& in,
                       const int* ids, const float* weights, bool overlap) {
  const int slots = in.rows * shape_.chosen;
  require(cuda::group_slots(
      ids, slots, shape_.chosen, shape_.experts, kFewRun,
      {row_list_.data(), position_of_.data(), runs_.data(), run_count_.data(), counts_.data()},
      overlap, study_stream()));
  LinearArgs args = product(gate_up, in, gate_up_.data(), slots, kFewRun, overlap);
  args.row_list = row_list_.data();
  require(cuda::linear_few_row(kChosenWay, args, study_stream()));
  finish(down, in.rows, kFewRun, weights, true, overlap);
}

void MoeLayer::run_many(const Affine4Tiles& gate_up, const Affine4Tiles& down,
                        const Activations& in, const int* ids, const float* weights) {
  const int slots = in.rows * shape_.chosen;
  require(cuda::group_slots(
      ids, slots, shape_.chosen, shape_.experts, kManyRun,
      {row_list_.data(), position_of_.data(), runs_.data(), run_count_.data(), counts_.data()},
      false, study_stream()));
  require(cuda::gather_activations(in, shape_.hidden, row_list_.data(), slots, x_.data(),
                                   sums_.data(), study_stream()));
  require(cuda::linear_many_row_sm90(
      kChosenWay,
      product(gate_up, {x_.data(), sums_.data(), slots}, gate_up_.data(), slots, kManyRun, false),
      kManyRun, study_stream()));
  finish(down, in.rows, kManyRun, weights, false, false);
}

}  // namespace lockstep::gpu_study
