// Experts: grouped products of few and many rows, without atomics, bit-equal.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "bench/gpu/moe_layer.cuh"
#include "bench/gpu/studies.h"

namespace lockstep::gpu_study {
namespace {

constexpr MoeShape kShape = {256, 8, 2048, 512};
constexpr int kMany = 8192;

// Distinct experts a row, a few much liked; weights that sum to 1, descending.
struct Routing {
  std::vector<int> ids;
  std::vector<float> weights;
};

Routing route(int rows, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> order(kShape.experts);
  std::iota(order.begin(), order.end(), 0);
  Routing routing;
  for (int row = 0; row < rows; ++row) {
    for (int j = 0; j < kShape.chosen; ++j)
      std::swap(order[j], order[j + random() % (kShape.experts - j)]);
    routing.ids.insert(routing.ids.end(), order.begin(), order.begin() + kShape.chosen);
    std::vector<float> w(kShape.chosen);
    for (float& v : w) v = static_cast<float>(random() % 1000 + 1);
    std::sort(w.rbegin(), w.rend());
    const float sum = std::accumulate(w.begin(), w.end(), 0.0f);
    for (const float v : w) routing.weights.push_back(v / sum);
  }
  return routing;
}

// Some outputs of a row in float64, from the exact weights and the rounded activations of the
// layer's input; nothing is rounded in between.
double layer_error(const AffineMatrix& gate_up, const AffineMatrix& down, const RoundedRows& in,
                   const Routing& routing, int row, const DeviceArray<float>& y) {
  std::vector<double> got, want(6, 0.0);
  for (int j = 0; j < kShape.chosen; ++j) {
    const int expert = routing.ids[row * kShape.chosen + j];
    std::vector<double> inner;
    for (int i = 0; i < kShape.inner; ++i) {
      const double gate = gate_up.dot(expert * 2 * kShape.inner + i, in.row(row));
      const double up = gate_up.dot(expert * 2 * kShape.inner + kShape.inner + i, in.row(row));
      inner.push_back(gate / (1 + std::exp(-gate)) * up);
    }
    for (size_t i = 0; i < want.size(); ++i)
      want[i] += routing.weights[row * kShape.chosen + j] *
                 down.dot(expert * kShape.hidden + static_cast<int>(i) * 331, inner);
  }
  for (size_t i = 0; i < want.size(); ++i)
    got.push_back(y.host(size_t(row) * kShape.hidden + i * 331, 1)[0]);
  return relative_error(got, want);
}

}  // namespace

void study_experts() {
  print("\n## Experts (35b-a3b: 256 of 512 inner, 8 chosen)\n");
  const AffineMatrix gate_up(kShape.experts * 2 * kShape.inner, kShape.hidden, 31);
  const AffineMatrix down(kShape.experts * kShape.hidden, kShape.inner, 32);
  const PackedMatrix gate_up_tiles(gate_up, kChosenWay, kShape.experts);
  const PackedMatrix down_tiles(down, kChosenWay, kShape.experts);
  const double expert_bytes = (gate_up_tiles.bytes() + down_tiles.bytes()) / kShape.experts;
  const RoundedRows rows(kChosenWay, kMany, kShape.hidden, 33);
  const Routing routing = route(kMany, 34);
  DeviceArray<int> ids(routing.ids.size());
  DeviceArray<float> weights(routing.weights.size());
  ids.set(routing.ids);
  weights.set(routing.weights);

  MoeLayer many(kShape, kMany), few(kShape, 64);
  const auto run_many = [&] {
    many.run_many(gate_up_tiles.tiles(), down_tiles.tiles(), rows.first(kMany), ids.data(),
                  weights.data());
  };
  run_many();
  uint64_t differences = 0;
  for (const int count : {1, 2, 5, 8, 16, 33, 64}) {
    few.run_few(gate_up_tiles.tiles(), down_tiles.tiles(), rows.first(count), ids.data(),
                weights.data(), false);
    differences +=
        count_differences(few.y().data(), many.y().data(), size_t(count) * kShape.hidden);
  }
  const double error = layer_error(gate_up, down, rows, routing, 3, many.y());
  check(differences == 0, "experts: few and many rows differ");
  check(error < 5e-3, "experts: error");
  print(
      "error of the layer, with one rounding of inner values to bf16: %.2e; differing words %llu\n",
      error, static_cast<unsigned long long>(differences));

  for (const int count : {1, 2, 4, 8, 16, 32, 64}) {
    double touched = 0;
    constexpr int kInner = 24;
    std::vector<DeviceArray<int>> draws;
    for (int i = 0; i < kInner; ++i) {
      const Routing draw = route(count, 100 + i);
      touched +=
          static_cast<double>(std::set<int>(draw.ids.begin(), draw.ids.end()).size()) / kInner;
      draws.emplace_back(draw.ids.size());
      draws.back().set(draw.ids);
    }
    const Timing t = time_graph(kInner, 10, [&](int i) {
      few.run_few(gate_up_tiles.tiles(), down_tiles.tiles(), rows.first(count), draws[i].data(),
                  weights.data(), true);
    });
    const double bytes = touched * expert_bytes;
    print(
        "  rows %2d: %.2f us (%.2f to %.2f) for 5 kernels, %.0f experts, %.1f MB, %.0f %% of "
        "copy\n",
        count, t.median, t.least, t.most, touched, bytes * 1e-6,
        1e8 * bytes / t.median / copy_bandwidth());
  }
  const Timing t = time_each(6, run_many);
  const double operations = 2.0 * kMany * kShape.chosen * 3 * kShape.hidden * kShape.inner;
  const double peer = cublas_bf16_rate(8192, 8192, 8192);
  print("  rows %d: %.0f us (%.0f to %.0f), all kernels; %.0f TFLOP/s = %.0f %% of cuBLAS bf16\n",
        kMany, t.median, t.least, t.most, operations * 1e-6 / t.median,
        peer > 0 ? 1e8 * operations / t.median / peer : 0.0);
}

}  // namespace lockstep::gpu_study
