// Speed of linear on the weight shapes of a 2b model (hidden 2048, FFN 6144, vocabulary 248320):
//   linear_bench [threads] [isa] [MiB] [rows...]
// Weights cycle through a buffer of that size, 400 MiB by default: more than the caches hold. One
// line per shape, arithmetic and number of rows: microseconds (the best of repeated calls),
// GB/s of packed weights and its share of what a plain read loop reaches in the same run, and
// 10^9 products a second. Rows are quantised beforehand: many products share that.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/buffer.h"
#include "kernels/linear/linear.h"

namespace lockstep {
namespace {

constexpr double kSecondsPerCase = 0.15;

struct Kind {
  const char* name;
  Encoding encoding;
  int bits;
  bool int8;
  BlockType block = {};
};
constexpr Kind kKinds[] = {{"4-bit int8", Encoding::kAffine, 4, true},
                           {"4-bit full", Encoding::kAffine, 4, false},
                           {"8-bit int8", Encoding::kAffine, 8, true},
                           {"6-bit int8", Encoding::kAffine, 6, true},
                           {"Q4_0 int8", Encoding::kBlocks, 0, true, BlockType::kQ4_0},
                           {"Q8_0 int8", Encoding::kBlocks, 0, true, BlockType::kQ8_0},
                           {"Q4_K int8", Encoding::kBlocks, 0, true, BlockType::kQ4_K},
                           {"Q5_K int8", Encoding::kBlocks, 0, true, BlockType::kQ5_K},
                           {"Q6_K int8", Encoding::kBlocks, 0, true, BlockType::kQ6_K},
                           {"Q4_K full", Encoding::kBlocks, 0, false, BlockType::kQ4_K},
                           {"bf16 dense", Encoding::kDense, 0, false}};

struct Shape {
  int64_t n, k;
};
constexpr Shape kShapes[] = {{256, 2048}, {2048, 2048}, {6144, 2048}, {2048, 6144}, {248320, 2048}};

// Shortest time of one call of function(repetition), in seconds.
template <typename Function>
double best_time(const Function& function) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  double total = 0.0;
  for (int64_t i = 0; total < kSecondsPerCase || i < 3; ++i) {
    const auto start = Clock::now();
    function(i);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

// Bytes a second that all threads together can read.
double read_bandwidth(const CpuContext& context, const Buffer<uint64_t>& buffer) {
  constexpr int64_t kTask = 1 << 16;
  const auto tasks = static_cast<int64_t>(buffer.size()) / kTask;
  std::vector<uint64_t> sums(static_cast<size_t>(tasks));
  const double seconds = best_time([&](int64_t) {
    context.pool.run(tasks, [&](int64_t task, int) {
      uint64_t sum[8] = {};
      const uint64_t* p = buffer.data() + task * kTask;
      for (int64_t i = 0; i < kTask; i += 8) {
        for (int j = 0; j < 8; ++j) sum[j] += p[i + j];
      }
      for (uint64_t s : sum) sums[static_cast<size_t>(task)] += s;
    });
  });
  return static_cast<double>(tasks * kTask * 8) / seconds;
}

// Matrix number `index` of a shape inside the buffer, wrapping around.
MatrixView weight_in(const Buffer<uint64_t>& buffer, const Kind& kind, const Shape& shape,
                     int64_t index) {
  MatrixView view{.encoding = kind.encoding,
                  .dtype = DType::kBF16,
                  .bits = kind.bits,
                  .group = kind.encoding == Encoding::kAffine ? 64 : 0,
                  .block = kind.block,
                  .rows = shape.n,
                  .cols = shape.k};
  const size_t copies = std::max<size_t>(1, buffer.bytes() / view.total_bytes());
  const auto* base = reinterpret_cast<const std::byte*>(buffer.data());
  view.data = base + static_cast<size_t>(index) % copies * view.total_bytes();
  view.scales = view.data + static_cast<size_t>(shape.n) * view.row_bytes();
  view.biases = view.scales + static_cast<size_t>(shape.n) * view.scale_row_bytes();
  return view;
}

void measure(const CpuContext& context, const Buffer<uint64_t>& buffer, double bandwidth,
             const Kind& kind, const Shape& shape, int64_t rows) {
  const size_t bytes = weight_in(buffer, kind, shape, 0).total_bytes();
  if (bytes > buffer.bytes()) return;
  std::vector<float> x(static_cast<size_t>(rows * shape.k)), y(static_cast<size_t>(rows * shape.n));
  std::mt19937 random(1);
  for (float& value : x) value = static_cast<float>(random() % 1000) * 0.002f - 1.0f;
  std::vector<ActivationBlock> quantized(static_cast<size_t>(rows * activation_blocks(shape.k)));
  run_quantize_rows(context, {.x = x.data(), .rows = rows, .k = shape.k, .out = quantized.data()});
  const double seconds = best_time([&](int64_t i) {
    run_linear(context, {.weight = weight_in(buffer, kind, shape, i),
                         .x = x.data(),
                         .x_quantized = kind.int8 ? quantized.data() : nullptr,
                         .rows = rows,
                         .y = y.data(),
                         .y_stride = shape.n});
  });
  const double rate = static_cast<double>(bytes) / seconds;
  const double products = static_cast<double>(rows * shape.n * shape.k) / seconds;
  fmt::print(
      "{:>10}  {:>6} x {:<5} {:>4} rows {:>10.1f} us {:>7.2f} GB/s {:>4.0f} %  {:>7.1f} G/s\n",
      kind.name, shape.n, shape.k, rows, seconds * 1e6, rate * 1e-9, 100.0 * rate / bandwidth,
      products * 1e-9);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  ThreadPool pool(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2);
  const Isa isa = argc > 2 ? parse_isa(argv[2]).value_or(best_isa()) : best_isa();
  std::vector<int64_t> rows;
  const size_t mebibytes = argc > 3 ? static_cast<size_t>(std::max(1, std::atoi(argv[3]))) : 400;
  for (int i = 4; i < argc; ++i) rows.push_back(std::atoll(argv[i]));
  if (rows.empty()) rows = {1, 8, 128};
  const CpuContext context{pool, isa};
  Buffer<uint64_t> buffer((mebibytes << 20) / sizeof(uint64_t));
  // Words that are sane bf16 scales and any packed integers: 0x3c00..0x3cff and the same negative.
  std::mt19937_64 random(2);
  for (uint64_t& word : buffer.span())
    word = (random() & 0x80ff80ff80ff80ffu) | 0x3c003c003c003c00u;
  const double bandwidth = read_bandwidth(context, buffer);
  fmt::print("{} threads, {}; plain read {:.1f} GB/s\n", pool.threads(), to_string(isa),
             bandwidth * 1e-9);
  for (const Kind& kind : kKinds) {
    for (const Shape& shape : kShapes) {
      for (int64_t count : rows) {
        if (shape.n > 100000 && count > 8) continue;
        measure(context, buffer, bandwidth, kind, shape, count);
      }
    }
  }
  return 0;
}
