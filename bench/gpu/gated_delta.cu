// The gated delta scan: a prompt of 8,192 tokens, and windows over many streams.
#include <algorithm>

#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"
#include "kernels/gated_delta/cuda_gated_delta.h"

namespace lockstep::gpu_study {
namespace {

using cuda::DeltaSequence;
using cuda::GatedDeltaArgs;

constexpr int kDim = 128;

// Random inputs like the op's: q and k of norm 1 (q by 128^-1/2), decay in (0, 1), now and then 0.
struct Inputs {
  int rows, key_heads, value_heads;
  DeviceArray<float> qkv, decay, beta, out;

  Inputs(int rows_, int key_heads_, int value_heads_, uint64_t seed)
      : rows(rows_),
        key_heads(key_heads_),
        value_heads(value_heads_),
        qkv(size_t(rows_) * (2 * key_heads_ + value_heads_) * kDim),
        decay(size_t(rows_) * value_heads_),
        beta(decay.size()),
        out(beta.size() * kDim) {
    const size_t width = size_t(2 * key_heads + value_heads) * kDim;
    const size_t keys = size_t(key_heads) * kDim;
    fill_uniform(decay.data(), decay.size(), 0.02f, 1.0f, seed);
    fill_uniform(beta.data(), beta.size(), 0.0f, 1.0f, seed + 1);
    fill_normal(qkv.data(), qkv.size(), 1, 1, seed + 2);
    // Lengths of about 1 for k and 128^-1/2 for q, as after l2_norm.
    scale_columns(qkv.data(), rows, width, 0, keys, 1.0f / 128);
    scale_columns(qkv.data(), rows, width, keys, 2 * keys, 0.0884f);
  }
  GatedDeltaArgs args(const DeviceArray<DeltaSequence>& sequences, int count) const {
    return {.qkv = qkv.data(),
            .decay = decay.data(),
            .beta = beta.data(),
            .key_heads = key_heads,
            .value_heads = value_heads,
            .sequences = sequences.data(),
            .sequence_count = count,
            .out = out.data()};
  }
};

// One head's outputs in float64 from a zero state; the first `rows` of the sequence.
std::vector<double> reference(const Inputs& in, int head, int rows) {
  const int width = (2 * in.key_heads + in.value_heads) * kDim;
  const auto qkv = in.qkv.host(0, size_t(rows) * width);
  const auto decay = in.decay.host(0, size_t(rows) * in.value_heads);
  const auto beta = in.beta.host(0, size_t(rows) * in.value_heads);
  const int key_head = head / (in.value_heads / in.key_heads);
  std::vector<double> s(kDim * kDim, 0.0), out;
  for (int row = 0; row < rows; ++row) {
    const float* q = &qkv[size_t(row) * width + key_head * kDim];
    const float* k = q + in.key_heads * kDim;
    const float* v = &qkv[size_t(row) * width + (2 * in.key_heads + head) * kDim];
    for (int j = 0; j < kDim; ++j) {
      double* column = &s[size_t(j) * kDim];
      double m = 0, o = 0;
      for (int i = 0; i < kDim; ++i) m += (column[i] *= decay[row * in.value_heads + head]) * k[i];
      const double d = beta[row * in.value_heads + head] * (v[j] - m);
      for (int i = 0; i < kDim; ++i) o += (column[i] += k[i] * d) * q[i];
      out.push_back(o);
    }
  }
  return out;
}

void study_prompt(const char* name, int value_heads, double prompt_rate, int layers) {
  constexpr int kRows = 8192, kChecked = 200;
  const Inputs in(kRows, 16, value_heads, 5);
  DeviceArray<float> state(size_t(value_heads) * kDim * kDim), split_state(state.size());
  DeviceArray<DeltaSequence> sequences(1);
  const auto start = [&](int first, int rows, DeviceArray<float>& s) {
    sequences.set({{first, rows, s.data(), s.data()}});
    require(cuda::gated_delta_scan(in.args(sequences, 1), study_stream()));
  };
  const auto clear = [](DeviceArray<float>& s) {
    require(cudaMemset(s.data(), 0, s.bytes()), "memset");
  };

  clear(state);
  DeviceArray<float> out = DeviceArray<float>(in.out.size());
  require(cudaMemset(in.out.data(), 0xff, in.out.bytes()), "memset");
  start(0, kRows, state);
  require(cudaMemcpy(out.data(), in.out.data(), out.bytes(), cudaMemcpyDeviceToDevice), "copy");

  // The same rows in windows of every length from 1 to 9, then in larger cuts.
  clear(split_state);
  require(cudaMemset(in.out.data(), 0xff, in.out.bytes()), "memset");
  for (int first = 0, length = 1; first < kRows; ++length) {
    const int rows = std::min(first < 600 ? 1 + length % 9 : 1777, kRows - first);
    start(first, rows, split_state);
    first += rows;
  }
  const uint64_t differences = count_differences(out.data(), in.out.data(), out.size()) +
                               count_differences(state.data(), split_state.data(), state.size());
  std::vector<double> got, want;
  for (const int head : {0, value_heads - 1}) {
    const auto expected = reference(in, head, kChecked);
    want.insert(want.end(), expected.begin(), expected.end());
    const auto rows = out.host(0, size_t(kChecked) * value_heads * kDim);
    for (int row = 0; row < kChecked; ++row)
      for (int j = 0; j < kDim; ++j)
        got.push_back(rows[(size_t(row) * value_heads + head) * kDim + j]);
  }
  const double error = relative_error(got, want);
  check(error < 1e-5, std::string(name) + ": scan error");
  check(differences == 0, std::string(name) + ": windows and whole prompt differ");

  sequences.set({{0, kRows, state.data(), state.data()}});
  const Timing t =
      time_each(6, [&] { require(cuda::gated_delta_scan(in.args(sequences, 1), study_stream())); });
  print(
      "%s, prompt of %d: error %.2e, differing words %llu, %.0f us (%.0f to %.0f), %.3f us a token "
      "and "
      "layer; %d layers take %.1f %% of the time at %.0f tokens/s\n",
      name, kRows, error, static_cast<unsigned long long>(differences), t.median, t.least, t.most,
      t.median / kRows, layers, 100 * layers * t.median * 1e-6 * prompt_rate / kRows, prompt_rate);
}

void study_windows(const char* name, int value_heads) {
  constexpr int kMostStreams = 64, kMostRows = 9;
  const Inputs in(kMostStreams * kMostRows, 16, value_heads, 6);
  const size_t state = size_t(value_heads) * kDim * kDim;
  // Two sets of states, read and written in turn, and several such pairs: none is found in L2.
  constexpr int kSets = 4;
  DeviceArray<float> states(state * kMostStreams * 2 * kSets);
  fill_normal(states.data(), states.size(), 1e-9f, 1, 7);
  print("%s, windows (us a layer; share of copy bandwidth for reading and writing the state):\n",
        name);
  for (const int streams : {1, 4, 16, 64}) {
    for (const int rows : {1, 2, 5, 9}) {
      std::vector<DeviceArray<DeltaSequence>> sets;
      const int turns = std::max(kSets, 64 / streams);
      for (int set = 0; set < turns; ++set) {
        std::vector<DeltaSequence> sequences;
        for (int i = 0; i < streams; ++i) {
          float* pair =
              states.data() + (size_t(set) * streams + i) % (kMostStreams * kSets) * 2 * state;
          sequences.push_back({i * rows, rows, pair, pair + state});
        }
        sets.emplace_back(streams);
        sets.back().set(sequences);
      }
      const Timing t = time_graph(turns, 10, [&](int i) {
        auto args = in.args(sets[i], streams);
        args.overlap = true;
        require(cuda::gated_delta_scan(args, study_stream()));
      });
      const double bytes = 2.0 * state * 4 * streams;
      print("  streams %2d rows %d: %.2f (%.2f to %.2f), %.0f %%\n", streams, rows, t.median,
            t.least, t.most, 1e8 * bytes / t.median / copy_bandwidth());
    }
  }
}

}  // namespace

void study_gated_delta() {
  print("\n## Gated delta scan\n");
  study_prompt("27b, 48 value heads", 48, 9000, 48);
  study_prompt("35b-a3b, 32 value heads", 32, 35000, 30);
  study_windows("27b", 48);
  study_windows("35b-a3b", 32);
}

}  // namespace lockstep::gpu_study
