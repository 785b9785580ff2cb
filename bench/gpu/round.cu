// A decode round's skeleton: every kernel with its real bytes, so that what remains is launches,
// order and small kernels. As a captured graph, plain and with programmatic dependent launch; and
// as one persistent kernel that reads the same bytes between grid-wide meetings.
#include <memory>
#include <random>

#include "bench/gpu/harness.cuh"
#include "bench/gpu/moe_layer.cuh"
#include "bench/gpu/studies.h"
#include "kernels/attention/cuda_attention.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/gated_delta/cuda_gated_delta.h"

namespace lockstep::gpu_study {
namespace {

struct Model {
  const char* name;
  int layers, hidden, inner;    // inner 0: experts
  int linear_in, linear_width;  // of a delta layer: q, k, v, z rows; value width
  int full_in, full_width;      // of an attention layer: q, gate, k, v rows; query width
  int value_heads, kv_heads, heads_a_kv;
  double goal;  // tokens/s
};

constexpr Model kModels[] = {
    {"27b", 64, 5120, 17408, 16384, 6144, 14336, 6144, 48, 4, 6, 225},
    {"35b-a3b", 40, 2048, 0, 12288, 4096, 9216, 4096, 32, 2, 8, 950},
};
constexpr int kVocabulary = 248320, kKeys = 1024;
constexpr MoeShape kExperts = {257, 9, 2048, 512};  // the shared expert is the last

// Stands in for norms, rotation, convolution, gates: reads and writes a vector of a row.
__global__ void small_op(const float* in, int count, float* out) {
  cuda::allow_next_kernel();
  cuda::wait_for_previous_kernel();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] * 0.5f + 1.0f;
}

// One matrix of random tiles, in one piece: a round's cost does not depend on their values.
class Weights {
 public:
  Weights(int outputs, int inputs, int matrices)
      : shape_{.outputs = outputs, .inputs = inputs},
        words_((shape_.q_bytes() + 2 * shape_.scale_bytes()) / 4 * matrices) {
    const size_t q = shape_.q_bytes() * matrices, scales = shape_.scale_bytes() * matrices;
    auto* bytes = reinterpret_cast<uint8_t*>(words_.data());
    fill_bits(words_.data(), q / 4, 1);
    fill_bf16(reinterpret_cast<uint16_t*>(bytes + q), scales / 2, 0.5f, 1.5f, 2);
    fill_bf16(reinterpret_cast<uint16_t*>(bytes + q + scales), scales / 2, -1, 1, 3);
    shape_.q = bytes;
    shape_.scales = bytes + q;
    shape_.biases = bytes + q + scales;
  }
  const cuda::Affine4Tiles& tiles() const { return shape_; }
  double bytes() const { return static_cast<double>(words_.bytes()); }
  const uint8_t* data() const { return shape_.q; }

 private:
  cuda::Affine4Tiles shape_;
  DeviceArray<uint32_t> words_;
};

class Round {
 public:
  explicit Round(const Model& model)
      : model_(model),
        cache_(size_t(4) * model.kv_heads * 256 * 256 * 2),
        pages_(4),
        states_(size_t(model.layers) * model.value_heads * 128 * 128 * 2),
        sequence_(model.layers),
        buffer_(1 << 20),
        other_(1 << 20),
        x_(1 << 20),
        sums_(1 << 18),
        ids_(size_t(model.layers) * kExperts.chosen),
        route_weights_(kExperts.chosen) {
    fill_normal_bf16(cache_.data(), cache_.size(), 1, 4);
    fill_normal(buffer_.data(), buffer_.size(), 0.01f, 1, 5);
    fill_normal(states_.data(), states_.size(), 1e-9f, 1, 6);
    fill_uniform(route_weights_.data(), route_weights_.size(), 0, 1, 7);
    pages_.set({0, 1, 2, 3});
    std::vector<cuda::DeltaSequence> sequences;
    const size_t state = size_t(model.value_heads) * 128 * 128;
    std::mt19937 random(8);
    std::vector<int> ids;
    for (int layer = 0; layer < model.layers; ++layer) {
      float* at = states_.data() + layer * 2 * state;
      sequences.push_back({0, 1, at, at + state});
      for (int j = 0; j < 8; ++j) ids.push_back(static_cast<int>(j * 32 + random() % 32));
      ids.push_back(256);
      const bool full = layer % 4 == 3;
      add(full ? model.full_in : model.linear_in, model.hidden);
      add(model.hidden, full ? model.full_width : model.linear_width);
      if (model.inner > 0) {
        add(2 * model.inner, model.hidden);
        add(model.hidden, model.inner);
      } else {
        add(2 * kExperts.inner, kExperts.hidden, kExperts.experts);
        add(kExperts.hidden, kExperts.inner, kExperts.experts);
      }
    }
    sequence_.set(sequences);
    ids_.set(ids);
    add(kVocabulary, model.hidden);
    if (model.inner == 0) moe_ = std::make_unique<MoeLayer>(kExperts, 1);
    require(cudaStreamSynchronize(study_stream()), "round");
  }

  // All launches of a round of one row, at kKeys positions.
  void launch_all(bool overlap) {
    overlap_ = overlap;
    launches_ = 0;
    const Weights* const* w = order_.data();
    for (int layer = 0; layer < model_.layers; ++layer) {
      rounding(model_.hidden);  // with the norm before it
      product(*w++);
      if (layer % 4 == 3) {
        small(model_.full_in);  // norms, rotation, store
        attention();
        rounding(model_.full_width);  // with the gate
      } else {
        small(model_.linear_in);  // convolution, norms, gates
        scan(layer);
        rounding(model_.linear_width);  // with the gated norm
      }
      product(*w++);
      rounding(model_.hidden);
      if (model_.inner > 0) {
        product(*w++);
        silu();
        product(*w++);
      } else {
        small(256);  // router
        moe_->run_few(w[0]->tiles(), w[1]->tiles(), {x_.data(), sums_.data(), 1},
                      ids_.data() + layer * kExperts.chosen, route_weights_.data(), overlap);
        launches_ += 5;
        w += 2;
      }
    }
    rounding(model_.hidden);
    product(*w);
    small(1024);  // the sampler's last step
  }

  int launches() const { return launches_; }
  // Bytes that one row's round reads of weights (of experts only the chosen), states and keys.
  double bytes() const {
    double sum = 0;
    for (const auto& weights : weights_) sum += used(*weights);
    return sum + 3.0 / 4 * model_.layers * 2 * model_.value_heads * 65536.0 +
           model_.layers / 4.0 * kKeys * model_.kv_heads * 1024.0;
  }
  double used(const Weights& weights) const {
    const bool stack =
        model_.inner == 0 && weights.bytes() > 1e8 && &weights != weights_.back().get();
    return weights.bytes() *
           (stack ? static_cast<double>(kExperts.chosen) / kExperts.experts : 1.0);
  }
  const std::vector<std::unique_ptr<Weights>>& weights() const { return weights_; }

 private:
  void add(int outputs, int inputs, int matrices = 1) {
    weights_.push_back(std::make_unique<Weights>(outputs, inputs, matrices));
    order_.push_back(weights_.back().get());
  }
  void product(const Weights* weights) {
    require(cuda::linear_few_row(kChosenWay,
                                 {.weights = weights->tiles(),
                                  .in = {x_.data(), sums_.data(), 1},
                                  .out = other_.data(),
                                  .overlap = overlap_},
                                 study_stream()));
    ++launches_;
  }
  void rounding(int inputs) {
    require(cuda::round_activations(kChosenWay, buffer_.data(), 1, inputs, x_.data(), sums_.data(),
                                    overlap_, study_stream()));
    ++launches_;
  }
  void silu() {
    require(cuda::silu_mul_round(kChosenWay, buffer_.data(), 1, model_.inner, x_.data(),
                                 sums_.data(), overlap_, study_stream()));
    ++launches_;
  }
  void small(int count) {
    require(
        cuda::launch("small op", small_op,
                     {.grid = dim3((count + 255) / 256), .block = dim3(256), .overlap = overlap_},
                     study_stream(), buffer_.data(), count, other_.data()));
    ++launches_;
  }
  void scan(int layer) {
    require(cuda::gated_delta_scan({.qkv = buffer_.data(),
                                    .decay = buffer_.data(),
                                    .beta = buffer_.data(),
                                    .key_heads = 16,
                                    .value_heads = model_.value_heads,
                                    .sequences = sequence_.data() + layer,
                                    .sequence_count = 1,
                                    .out = other_.data(),
                                    .overlap = overlap_},
                                   study_stream()));
    ++launches_;
  }
  void attention() {
    require(cuda::attention_few_row({.q = x_.data(),
                                     .k = cache_.data(),
                                     .v = cache_.data() + cache_.size() / 2,
                                     .pages = pages_.data(),
                                     .page_count = 4,
                                     .kv_heads = model_.kv_heads,
                                     .heads_a_kv = model_.heads_a_kv,
                                     .rows = 1,
                                     .first_position = kKeys - 1,
                                     .out = other_.data(),
                                     .overlap = overlap_},
                                    other_.data() + (1 << 18), study_stream()));
    launches_ += 2;
  }

  const Model& model_;
  std::vector<std::unique_ptr<Weights>> weights_;
  std::vector<const Weights*> order_;
  DeviceArray<uint16_t> cache_;
  DeviceArray<int> pages_;
  DeviceArray<float> states_;
  DeviceArray<cuda::DeltaSequence> sequence_;
  DeviceArray<float> buffer_, other_;
  DeviceArray<uint16_t> x_, sums_;
  DeviceArray<int> ids_;
  DeviceArray<float> route_weights_;
  std::unique_ptr<MoeLayer> moe_;
  bool overlap_ = false;
  int launches_ = 0;
};

struct Phase {
  const uint8_t* data;
  size_t bytes;  // 0: only the meeting
};

constexpr int kPersistentThreads = 512;

// Reads each phase's bytes with all blocks, which meet after every phase; before a meeting a block
// asks for the beginning of its share of the next phase.
__global__ void __launch_bounds__(kPersistentThreads, 1)
    persistent_reader(const Phase* phases, int count, unsigned* meetings, uint32_t* out) {
  uint32_t sum = 0;
  const auto share = [&](const Phase& phase) {
    return (phase.bytes / gridDim.x + 4095) / 4096 * 4096;
  };
  for (int p = 0; p < count; ++p) {
    const Phase phase = phases[p];
    const size_t begin = share(phase) * blockIdx.x;
    const size_t end = min(begin + share(phase), phase.bytes);
    for (size_t at = begin + threadIdx.x * 16; at < end; at += kPersistentThreads * 64) {
      uint4 v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (at + i * kPersistentThreads * 16 < end)
          v[i] = cuda::load_stream(phase.data + at + i * kPersistentThreads * 16);
        else
          v[i] = uint4{};
#pragma unroll
      for (int i = 0; i < 4; ++i) sum ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    }
    __syncthreads();
    if (threadIdx.x != 0) {
    } else {
      if (p + 1 < count && phases[p + 1].bytes > 0) {
        const size_t next = share(phases[p + 1]) * blockIdx.x;
        if (next + 65536 <= phases[p + 1].bytes)
          cuda::prefetch_bulk(phases[p + 1].data + next, 65536);
      }
      __threadfence();
      atomicAdd(meetings + p, 1u);
      while (*reinterpret_cast<volatile unsigned*>(meetings + p) < gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  if (sum == 0x12345678u) *out = sum;
}

Timing time_persistent(const Round& round, const Model& model) {
  std::vector<Phase> phases;
  size_t index = 0;
  const auto read = [&] {
    const Weights& weights = *round.weights()[index++];
    phases.push_back({weights.data(), static_cast<size_t>(round.used(weights)) / 16 * 16});
  };
  const auto meet = [&](int times) {
    for (int i = 0; i < times; ++i) phases.push_back({nullptr, 0});
  };
  for (int layer = 0; layer < model.layers; ++layer) {
    meet(1);
    read();
    meet(2);  // small op, then state or keys with the op after it
    read();
    meet(1);
    read();
    meet(1);
    read();
  }
  meet(1);
  read();
  DeviceArray<Phase> list(phases.size());
  list.set(phases);
  DeviceArray<unsigned> meetings(phases.size() + 1);
  const Timing t = time_each(10, [&] {
    require(cudaMemsetAsync(meetings.data(), 0, meetings.bytes(), study_stream()), "memset");
    persistent_reader<<<132, kPersistentThreads, 0, study_stream()>>>(
        list.data(), static_cast<int>(phases.size()), meetings.data(),
        meetings.data() + phases.size());
    require(cudaGetLastError(), "persistent reader");
  });
  print("  persistent reader, %zu meetings: ", phases.size());
  return t;
}

}  // namespace

void study_round() {
  print("\n## A round's skeleton: one row at %d keys\n", kKeys);
  for (const Model& model : kModels) {
    Round round(model);
    const double limit = 1e6 * round.bytes() / copy_bandwidth();
    print(
        "%s: %.2f GB, limit by copy bandwidth %.0f us (%.0f tokens/s); goal %.0f tokens/s = %.0f "
        "us\n",
        model.name, round.bytes() * 1e-9, limit, 1e6 / limit, model.goal, 1e6 / model.goal);
    const auto report = [&](const Timing& t) {
      print("%.0f us (%.0f to %.0f), %.0f tokens/s, %.0f %% of the limit\n", t.median, t.least,
            t.most, 1e6 / t.median, 100 * limit / t.median);
    };
    const Timing direct = time_each(5, [&] { round.launch_all(false); });
    print("  launched one by one, %d launches: ", round.launches());
    report(direct);
    const Timing plain = time_graph(1, 10, [&](int) { round.launch_all(false); });
    print("  graph: ");
    report(plain);
    const Timing overlapped = time_graph(1, 10, [&](int) { round.launch_all(true); });
    print("  graph with programmatic dependent launch: ");
    report(overlapped);
    report(time_persistent(round, model));
  }
}

}  // namespace lockstep::gpu_study
