#include <algorithm>
#include <cmath>

#include "base/float16.h"
#include "kernels/contract/op_contracts.h"
#include "kernels/kv_store/kv_store.h"

namespace lockstep::contract {
namespace {

// Where the streams' rows begin: within a block, at its end, at its start, far out.
constexpr int64_t kPositions[] = {63, 31, 127, 0, 500};

class KvStoreProblem final : public Problem {
 public:
  KvStoreProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options),
        shape_{static_cast<KvType>(shape.at(".type")), shape.at("kv_heads"), shape.at("head_dim")} {
    Random random(options.seed);
    k_ = random.normals(total() * width());
    v_ = random.normals(total() * width(), 1e-3);
    k_[0] = 1.0f + 0x1p-8f;                                  // a tie
    k_[static_cast<size_t>(width() - 1)] = 0x1.fffffep127f;  // infinity in bf16
    v_[0] = 1.0f + 0x1.8p-7f;                                // a tie upwards
    disturb(k_, width());
    disturb(v_, width());
  }

  std::vector<OutputSpec> outputs() const override {
    return {{"keys", width()}, {"values", width()}};
  }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    if (shape_.type == KvType::kBf16) {
      store<uint16_t>(context, segments, out);
    } else {
      store<float>(context, segments, out);
    }
  }

  // A cached value is the input rounded to the cache's type, by the scalar code of base/float16.h.
  Expected reference(int64_t) const override {
    Expected expected;
    for (const std::vector<float>* x : {&k_, &v_}) {
      std::vector<double> want;
      for (const float value : *x) {
        want.push_back(shape_.type == KvType::kBf16 ? bf16_to_float(float_to_bf16(value)) : value);
      }
      expected.add_exact(x == &k_ ? 0 : 1, want);
    }
    return expected;
  }

 private:
  int64_t width() const { return shape_.kv_heads * shape_.head_dim; }

  static float widened(uint16_t bits) { return bf16_to_float(bits); }
  static float widened(float value) { return value; }

  // Into fresh blocks, out of which the rows are read; nothing else in them may have been written.
  template <typename T>
  void store(const CpuContext& context, std::span<const Segment> segments, CallOutputs& out) {
    const std::vector<float> k = gather(k_, width(), segments), v = gather(v_, width(), segments);
    std::vector<std::vector<GuardedArray<T>>> blocks;
    std::vector<std::vector<std::byte*>> pointers;
    std::vector<KvSequence> sequences;
    int64_t row = 0;
    for (const Segment& segment : segments) {
      const int64_t position = kPositions[segment.stream % 5] + segment.begin;
      const int64_t block_count = (position + segment.rows() - 1) / kKvBlock + 1;
      blocks.emplace_back();
      pointers.emplace_back();
      for (int64_t b = 0; b < block_count; ++b) {
        blocks.back().emplace_back(2 * kKvBlock * width());
        pointers.back().push_back(reinterpret_cast<std::byte*>(blocks.back().back().data()));
      }
      sequences.push_back({.first_row = row, .rows = segment.rows(), .first_position = position});
      row += segment.rows();
    }
    for (size_t s = 0; s < sequences.size(); ++s) sequences[s].blocks = pointers[s].data();
    run_kv_store(context, {.shape = shape_,
                           .k = k.data(),
                           .v = v.data(),
                           .sequences = sequences.data(),
                           .sequence_count = static_cast<int64_t>(sequences.size())});
    for (size_t s = 0; s < sequences.size(); ++s) take(sequences[s], blocks[s], out);
  }

  template <typename T>
  void take(const KvSequence& sequence, std::vector<GuardedArray<T>>& blocks, CallOutputs& out) {
    for (int64_t row = 0; row < sequence.rows; ++row) {
      const int64_t position = sequence.first_position + row;
      GuardedArray<T>& block = blocks[static_cast<size_t>(position / kKvBlock)];
      for (int64_t i = 0; i < 2 * width(); ++i) {
        const int64_t head = i / shape_.head_dim;  // of the keys, then of the values
        const int64_t at =
            (head * kKvBlock + position % kKvBlock) * shape_.head_dim + i % shape_.head_dim;
        float* to = out.data(i < width() ? 0 : 1) + (sequence.first_row + row) * width();
        to[i % width()] = widened(block.data()[at]);
        block.poison_at(at);
      }
    }
    for (const GuardedArray<T>& block : blocks) {
      if (!block.untouched()) out.fail("a write beside the rows' places in a block");
    }
  }

  KvShape shape_;
  std::vector<float> k_, v_;
};

}  // namespace

OpContract kv_store_contract() {
  return {
      .op = "kv_store",
      .make = make_problem<KvStoreProblem>,
      .kernels = kv_store_kernels,
      .limits =
          [](const ShapeClass& shape) {
            return std::vector<Limit>{
                {.what = "head_dim", .value = shape.at("head_dim"), .multiple_of = 16}};
          },
      .work = [](const ShapeClass& shape) { return shape.at("kv_heads") * shape.at("head_dim"); },
      .test_shapes =
          [] {
            std::vector<ShapeClass> classes;
            for (const KvType type : {KvType::kBf16, KvType::kF32}) {
              for (const auto& [heads, head_dim] :
                   {std::pair<int64_t, int64_t>{1, 16}, {2, 256}, {3, 48}}) {
                classes.push_back(kv_class("kv_store", {type, heads, head_dim}));
              }
            }
            return classes;
          },
      .twin = "only rounds its result (there is no sum)",
      .alike = [](const ShapeClass& shape) -> std::string_view {
        return static_cast<KvType>(shape.at(".type")) == KvType::kBf16
                   ? "no sum, and the op's own result is bf16"
                   : "";
      }};
}

}  // namespace lockstep::contract
