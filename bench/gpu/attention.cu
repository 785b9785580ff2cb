// Attention: bits of few rows against many, error against float64, time against reading the keys
// and values and against cuBLAS.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/float16.h"
#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"
#include "kernels/attention/cuda_attention.h"

namespace lockstep::gpu_study {
namespace {

using cuda::AttentionArgs;
using cuda::kAttentionDim;
using cuda::kAttentionGroup;

// A pool of pages with random keys and values, and sequences as lists of its pages.
class Cache {
 public:
  Cache(int kv_heads, int pages, uint64_t seed)
      : kv_heads_(kv_heads), pages_(pages), k_(elements(pages)), v_(elements(pages)), list_(pages) {
    fill_normal_bf16(k_.data(), k_.size(), 1.0f, seed);
    fill_normal_bf16(v_.data(), v_.size(), 1.0f, seed + 1);
    order_.resize(pages);
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), std::mt19937(static_cast<unsigned>(seed)));
    list_.set(order_);
  }
  AttentionArgs args(int heads_a_kv, int first_page) const {
    return {.k = k_.data(),
            .v = v_.data(),
            .pages = list_.data() + first_page,
            .page_count = pages_,
            .kv_heads = kv_heads_,
            .heads_a_kv = heads_a_kv};
  }
  // Every value at position `position` and later of its page becomes NaN.
  void poison_after(int position) {
    const int page = order_[position / kAttentionGroup];
    for (int head = 0; head < kv_heads_; ++head) {
      const size_t row =
          (size_t(page) * kv_heads_ + head) * kAttentionGroup + position % kAttentionGroup;
      const size_t bytes = size_t(kAttentionGroup - position % kAttentionGroup) * kAttentionDim * 2;
      require(cudaMemset(k_.data() + row * kAttentionDim, 0xff, bytes), "poison");
      require(cudaMemset(v_.data() + row * kAttentionDim, 0xff, bytes), "poison");
    }
  }
  // Output of one query at position p in float64.
  std::vector<double> reference(const std::vector<uint16_t>& q, int head, int p) const {
    std::vector<double> scores, out(kAttentionDim, 0.0);
    std::vector<std::vector<uint16_t>> values;
    for (int first = 0; first <= p; first += kAttentionGroup) {
      const size_t at = (size_t(order_[first / kAttentionGroup]) * kv_heads_ + head) *
                        kAttentionGroup * kAttentionDim;
      const auto keys = k_.host(at, size_t(kAttentionGroup) * kAttentionDim);
      values.push_back(v_.host(at, size_t(kAttentionGroup) * kAttentionDim));
      for (int j = 0; j < std::min(kAttentionGroup, p + 1 - first); ++j) {
        double s = 0;
        for (int d = 0; d < kAttentionDim; ++d)
          s += double{bf16_to_float(q[d])} * bf16_to_float(keys[size_t(j) * kAttentionDim + d]);
        scores.push_back(s / 16);
      }
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (size_t j = 0; j < scores.size(); ++j) {
      const double weight = std::exp(scores[j] - most);
      sum += weight;
      const uint16_t* value = &values[j / kAttentionGroup][j % kAttentionGroup * kAttentionDim];
      for (int d = 0; d < kAttentionDim; ++d) out[d] += weight * bf16_to_float(value[d]);
    }
    for (double& value : out) value /= sum;
    return out;
  }

 private:
  size_t elements(int pages) const {
    return size_t(pages) * kv_heads_ * kAttentionGroup * kAttentionDim;
  }
  const int kv_heads_, pages_;
  DeviceArray<uint16_t> k_, v_;
  DeviceArray<int> list_;
  std::vector<int> order_;
};

void check_bits(const char* name, int kv_heads, int heads_a_kv) {
  constexpr int kRows = 3000;
  Cache cache(kv_heads, 12, 3);
  const size_t row_elements = size_t(heads_a_kv) * kAttentionDim;  // of one key head
  DeviceArray<uint16_t> q(kv_heads * kRows * row_elements);
  fill_normal_bf16(q.data(), q.size(), 1.5f, 4);
  DeviceArray<float> all(q.size());
  AttentionArgs args = cache.args(heads_a_kv, 0);
  args.q = q.data();
  args.rows = kRows;
  args.out = all.data();
  all.poison();
  require(cuda::attention_many_row_sm90(args, study_stream()));

  // Sampled queries against float64.
  std::vector<double> got, want;
  for (const int row : {0, 1, 255, 256, 700, 2999}) {
    const int head = row % kv_heads, within = row % heads_a_kv;
    const size_t query = (size_t(head) * kRows + row) * heads_a_kv + within;
    const auto out = all.host(query * kAttentionDim, kAttentionDim);
    got.insert(got.end(), out.begin(), out.end());
    const auto expected = cache.reference(q.host(query * kAttentionDim, kAttentionDim), head, row);
    want.insert(want.end(), expected.begin(), expected.end());
  }
  const double error = relative_error(got, want);
  check(error < 5e-3, std::string(name) + ": attention error");

  // Windows from the end on, each with poison behind it, by both kernels.
  uint64_t differences = 0;
  DeviceArray<uint16_t> window_q(kv_heads * 9 * row_elements);
  DeviceArray<float> few(window_q.size()), many(window_q.size()), expected(window_q.size());
  DeviceArray<float> scratch(size_t(kv_heads) * 9 * heads_a_kv * 12 * (kAttentionDim + 2));
  const int kWindows[][2] = {{2991, 9}, {2560, 1}, {2559, 2}, {2300, 5},
                             {1023, 1}, {767, 3},  {64, 8},   {0, 1}};
  for (const auto& [first, rows] : kWindows) {
    cache.poison_after(first + rows);
    for (int head = 0; head < kv_heads; ++head) {
      const size_t from = (size_t(head) * kRows + first) * row_elements,
                   to = head * rows * row_elements;
      require(cudaMemcpy(window_q.data() + to, q.data() + from, rows * row_elements * 2,
                         cudaMemcpyDeviceToDevice),
              "copy");
      require(cudaMemcpy(expected.data() + to, all.data() + from, rows * row_elements * 4,
                         cudaMemcpyDeviceToDevice),
              "copy");
    }
    args.q = window_q.data();
    args.rows = rows;
    args.first_position = first;
    few.poison();
    many.poison();
    args.out = few.data();
    require(cuda::attention_few_row(args, scratch.data(), study_stream()));
    args.out = many.data();
    require(cuda::attention_many_row_sm90(args, study_stream()));
    const size_t words = size_t(kv_heads) * rows * row_elements;
    differences += count_differences(few.data(), expected.data(), words) +
                   count_differences(many.data(), expected.data(), words);
  }
  check(differences == 0, std::string(name) + ": few and many rows differ");
  print("%s: error %.2e, differing words %llu\n", name, error,
        static_cast<unsigned long long>(differences));
}

void time_few(const Cache& cache, int pages, int kv_heads, int heads_a_kv) {
  DeviceArray<uint16_t> q(size_t(kv_heads) * 9 * heads_a_kv * kAttentionDim);
  fill_normal_bf16(q.data(), q.size(), 1, 8);
  DeviceArray<float> out(q.size());
  for (const int keys : {1024, 8192, 32768, 131072}) {
    const int groups = keys / kAttentionGroup, lists = pages / groups;
    for (const int rows : {1, 2, 4, 9}) {
      AttentionArgs args = cache.args(heads_a_kv, 0);
      args.q = q.data();
      args.out = out.data();
      args.rows = rows;
      args.first_position = keys - rows;
      args.overlap = true;
      DeviceArray<float> scratch(cuda::attention_scratch(args));
      const int inner = std::min(lists, 32) * std::max(1, 4 / lists);
      const Timing t = time_graph(inner, 10, [&](int i) {
        args.pages = cache.args(heads_a_kv, i % lists * groups).pages;
        require(cuda::attention_few_row(args, scratch.data(), study_stream()));
      });
      const double bytes = double{1024} * keys * kv_heads;
      print("  keys %6d rows %d: %8.2f us (%.2f to %.2f), %.0f %% of reading\n", keys, rows,
            t.median, t.least, t.most, 1e8 * bytes / t.median / read_bandwidth());
    }
  }
}

void time_many(const Cache& cache, int kv_heads, int heads_a_kv, double peer) {
  for (const int rows : {8192, 32768}) {
    DeviceArray<uint16_t> q(size_t(kv_heads) * rows * heads_a_kv * kAttentionDim);
    fill_normal_bf16(q.data(), q.size(), 1, 9);
    DeviceArray<float> out(q.size());
    AttentionArgs args = cache.args(heads_a_kv, 0);
    args.q = q.data();
    args.out = out.data();
    args.rows = rows;
    const Timing t =
        time_each(5, [&] { require(cuda::attention_many_row_sm90(args, study_stream())); });
    const double operations = 2.0 * kAttentionDim * kv_heads * heads_a_kv * rows * (rows + 1.0);
    print("  rows %d: %.0f us (%.0f to %.0f), %.0f TFLOP/s = %.0f %% of cuBLAS bf16\n", rows,
          t.median, t.least, t.most, operations * 1e-6 / t.median,
          peer > 0 ? 1e8 * operations / t.median / peer : 0.0);
  }
}

}  // namespace

void study_attention() {
  print("\n## Attention, heads of 256\n");
  const double peer = cublas_bf16_rate(8192, 8192, 8192);
  struct Model {
    const char* name;
    int kv_heads, heads_a_kv;
  };
  for (const Model& model : {Model{"27b, 4 key heads, 6 queries each", 4, 6},
                             Model{"35b-a3b, 2 key heads, 8 queries each", 2, 8}}) {
    check_bits(model.name, model.kv_heads, model.heads_a_kv);
    constexpr int kPages = 1024;
    const Cache cache(model.kv_heads, kPages, 7);
    time_few(cache, kPages, model.kv_heads, model.heads_a_kv);
    time_many(cache, model.kv_heads, model.heads_a_kv, peer);
  }
}

}  // namespace lockstep::gpu_study
