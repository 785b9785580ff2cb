// Quantised products: bits of few rows against many, error against float64, time against the
// limits.
#include <cmath>
#include <memory>

#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"
#include "bench/gpu/weights.cuh"
#include "kernels/linear/cuda_split_parts.h"

namespace lockstep::gpu_study {
namespace {

using cuda::Activations;
using cuda::Affine4Tiles;
using cuda::LinearArgs;
using cuda::Way;

struct Shape {
  const char* name;
  int outputs, inputs;
};

constexpr Shape kShapes[] = {
    {"27b gate+up", 34816, 5120}, {"27b down", 5120, 17408},  {"27b qkv+z", 16384, 5120},
    {"27b out", 5120, 6144},      {"35b qkv+z", 12288, 2048}, {"35b out", 2048, 4096},
};

const char* name_of(Way way) { return way == Way::kExactIntegers ? "a" : "b"; }

// Up to 64 rows as a plan would run them.
void run(Way way, const LinearArgs& args, float* scratch) {
  require(args.in.rows <= 16 ? cuda::linear_few_row(way, args, study_stream())
                             : cuda::linear_split_parts_sm90(way, args, scratch, study_stream()));
}

void study_shape(const Shape& shape, Way way) {
  constexpr int kMost = 8192;
  const AffineMatrix matrix(shape.outputs, shape.inputs, 11);
  const PackedMatrix packed(matrix, way);
  const RoundedRows rows(way, kMost, shape.inputs, 21);
  const size_t outputs = size_t(shape.outputs);
  DeviceArray<float> many(kMost * outputs), few(64 * outputs), scratch(64 * outputs * 20);
  LinearArgs args = {.weights = packed.tiles(), .in = rows.first(kMost), .out = many.data()};

  // Bits and error.
  many.poison();
  require(cuda::linear_many_row_sm90(way, args, 128, study_stream()));
  const double error = matrix.error(rows, many, {0, 1, 77, 4095, 8191});
  check(error < (way == Way::kExactIntegers ? 1e-5 : 4e-3), shape.name);
  uint64_t differences = 0;
  for (const int count : {1, 2, 3, 4, 7, 8, 9, 16, 33, 64}) {
    few.poison();
    args.in = rows.first(count);
    args.out = few.data();
    run(way, args, scratch.data());
    differences += count_differences(few.data(), many.data(), count * outputs);
  }
  args.in = rows.first(300);
  DeviceArray<float> narrow(300 * outputs);
  narrow.poison();
  args.out = narrow.data();
  require(cuda::linear_many_row_sm90(way, args, 64, study_stream()));
  differences += count_differences(narrow.data(), many.data(), 300 * outputs);
  check(differences == 0, std::string(shape.name) + ": few and many rows differ");
  print("%-12s way %s  error %.2e  differing words %llu\n", shape.name, name_of(way), error,
        static_cast<unsigned long long>(differences));

  // Few rows: many copies of the weights in turn, so that no launch finds them in L2.
  const double bytes = packed.bytes();
  const int copies = static_cast<int>(4e8 / bytes) + 1;
  std::vector<std::unique_ptr<PackedMatrix>> others;
  for (int i = 0; i < copies; ++i) others.push_back(std::make_unique<PackedMatrix>(matrix, way));
  for (const int count : {1, 2, 4, 8, 16, 32, 64}) {
    args.in = rows.first(count);
    args.out = few.data();
    args.overlap = true;
    const int inner = std::max(copies, 20);
    const Timing t = time_graph(inner, 15, [&](int i) {
      args.weights = others[i % copies]->tiles();
      run(way, args, scratch.data());
    });
    print("  rows %4d  %8.2f us (%.2f to %.2f)  %.3f TB/s = %.1f %% of copy, %.1f %% of reading\n",
          count, t.median, t.least, t.most, bytes * 1e-6 / t.median,
          1e8 * bytes / t.median / copy_bandwidth(), 1e8 * bytes / t.median / read_bandwidth());
  }
  args.overlap = false;
  args.weights = packed.tiles();
  args.out = many.data();
  for (const int count : {512, 2048, 8192}) {
    args.in = rows.first(count);
    const Timing t =
        time_each(6, [&] { require(cuda::linear_many_row_sm90(way, args, 128, study_stream())); });
    const double rate = 2e6 * count * shape.outputs * shape.inputs / t.median;
    const double peer = cublas_bf16_rate(count, shape.outputs, shape.inputs);
    print("  rows %4d  %8.1f us (%.1f to %.1f)  %.0f TFLOP/s; cuBLAS bf16 %.0f: %.1f %%\n", count,
          t.median, t.least, t.most, rate * 1e-12, peer * 1e-12, peer > 0 ? 100 * rate / peer : 0);
  }
}

}  // namespace

void study_products() {
  print("\n## Quantised products (MLX affine 4-bit, group 64)\n");
  for (const Shape& shape : kShapes)
    for (const Way way : {Way::kExactIntegers, Way::kRoundedWeights}) study_shape(shape, way);
}

}  // namespace lockstep::gpu_study
