#include <algorithm>
#include <cmath>

#include "kernels/attention/attention.h"
#include "kernels/attention/reference.h"
#include "kernels/contract/op_contracts.h"
#include "kernels/kv_store/reference.h"

namespace lockstep::contract {
namespace {

// Positions that stand in the cache before a stream's first row: none, a block less one, more than
// two groups of keys, ...
constexpr int64_t kHistory[] = {0, 255, 40, 600, 190};

// A cache whose unwritten places hold NaN.
struct Cache {
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::byte*> blocks;

  Cache(const KvShape& shape, int64_t positions) {
    for (int64_t b = 0; b * kKvBlock < positions; ++b) {
      storage.emplace_back(shape.block_bytes(), std::byte{0xff});
    }
    for (std::vector<std::byte>& block : storage) blocks.push_back(block.data());
  }
};

class AttentionProblem final : public Problem {
 public:
  AttentionProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options),
        shape_{static_cast<KvType>(shape.at(".type")), shape.at("kv_heads"), shape.at("head_dim")},
        heads_(shape.at("heads")) {
    Random random(options.seed);
    // Without queries all weights are equal.
    q_ = random.normals(total() * query_width(), stress() ? 0.0 : 1.0);
    // Every second row has nearly all its weight on one key.
    for (int64_t i = 0; i < total() * query_width(); ++i) {
      if (i / query_width() % 2 == 1) q_[static_cast<size_t>(i)] *= 30.0f;
    }
    k_ = random.normals(total() * width());
    column_ = random.uniforms(width(), 1.0, 1.2);
    v_ = stress() ? like_columns(total()) : random.normals(total() * width());
    for (int64_t s = 0; s < options.streams(); ++s) {
      old_k_.push_back(random.normals(history(s) * width()));
      old_v_.push_back(stress() ? like_columns(history(s)) : random.normals(history(s) * width()));
    }
    disturb(q_, options.inputs == Inputs::kSpoilt ? query_width() : 0);
    disturb(k_, width());
    disturb(v_, width());
  }

  std::vector<OutputSpec> outputs() const override { return {{"out", query_width()}}; }
  int ways() const override { return 2; }  // with a workspace and without

  void begin() override {
    caches_.clear();
    for (int64_t s = 0; s < options().streams(); ++s) {
      caches_.emplace_back(shape_, history(s) + options().rows[static_cast<size_t>(s)]);
      const KvSequence old = {.rows = history(s), .blocks = caches_.back().blocks.data()};
      store(old_k_[static_cast<size_t>(s)], old_v_[static_cast<size_t>(s)], {&old, 1});
    }
  }

  // The rows' keys and values are stored just before, so that what stands beyond them is NaN.
  void call(const CpuContext& context, std::span<const Segment> segments, int way,
            CallOutputs& out) override {
    const std::vector<float> q = gather(q_, query_width(), segments);
    const std::vector<KvSequence> rows = sequences(segments);
    store(gather(k_, width(), segments), gather(v_, width(), segments), rows);
    Guarded workspace(attention_workspace(shape_));
    AttentionArgs args = arguments(q, rows);
    args.out = out.data(0);
    if (way == 0) args.workspace = workspace.data();
    run_attention(context, args);
    if (std::string wrong = workspace.check(true); !wrong.empty()) out.fail("workspace: " + wrong);
  }

  Expected reference(int64_t) const override {
    AttentionProblem whole = *this;
    whole.begin();
    std::vector<Segment> all;
    for (int64_t s = 0; s < options().streams(); ++s) {
      all.push_back({s, 0, options().rows[static_cast<size_t>(s)]});
    }
    const std::vector<KvSequence> rows = whole.sequences(all);
    store(k_, v_, rows);
    std::vector<double> out(q_.size()), bound(q_.size());
    reference_attention(arguments(q_, rows), out.data(), bound.data());
    Expected expected;
    expected.add(0, out, bound);
    return expected;
  }

  // Stress: every output is the mean of equal values.
  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const int64_t row = value.index / query_width();
      int64_t stream = options().streams() - 1;
      while (options().first(stream) > row) --stream;
      const int64_t keys = history(stream) + row - options().first(stream) + 1;
      const double sum = narrow_chain(type, keys, [&](int64_t) { return value.want; });
      values.push_back(sum / static_cast<double>(keys));
    }
    return values;
  }

 private:
  int64_t width() const { return shape_.kv_heads * shape_.head_dim; }
  int64_t query_width() const { return heads_ * shape_.head_dim; }
  static int64_t history(int64_t stream) { return kHistory[stream % 5]; }

  std::vector<float> like_columns(int64_t rows) const {
    std::vector<float> values;
    for (int64_t row = 0; row < rows; ++row) {
      values.insert(values.end(), column_.begin(), column_.end());
    }
    return values;
  }

  std::vector<KvSequence> sequences(std::span<const Segment> segments) {
    std::vector<KvSequence> rows;
    int64_t row = 0;
    for (const Segment& segment : segments) {
      rows.push_back({.first_row = row,
                      .rows = segment.rows(),
                      .first_position = history(segment.stream) + segment.begin,
                      .blocks = caches_[static_cast<size_t>(segment.stream)].blocks.data()});
      row += segment.rows();
    }
    return rows;
  }

  void store(const std::vector<float>& k, const std::vector<float>& v,
             std::span<const KvSequence> rows) const {
    reference_kv_store({.shape = shape_,
                        .k = k.data(),
                        .v = v.data(),
                        .sequences = rows.data(),
                        .sequence_count = static_cast<int64_t>(rows.size())});
  }

  AttentionArgs arguments(const std::vector<float>& q, std::span<const KvSequence> rows) const {
    return {.shape = shape_,
            .heads = heads_,
            .scale = 0.0625f,
            .q = q.data(),
            .sequences = rows.data(),
            .sequence_count = static_cast<int64_t>(rows.size())};
  }

  KvShape shape_;
  int64_t heads_;
  std::vector<float> q_, k_, v_, column_;
  std::vector<std::vector<float>> old_k_, old_v_;
  std::vector<Cache> caches_;
};

ShapeClass attention_class(KvType type, int64_t heads, int64_t kv_heads, int64_t head_dim) {
  return shape_class(AttentionArgs{.shape = {type, kv_heads, head_dim}, .heads = heads});
}

}  // namespace

OpContract attention_contract() {
  return {
      .op = "attention",
      .make = make_problem<AttentionProblem>,
      .kernels = attention_kernels,
      .limits =
          [](const ShapeClass& shape) {
            return std::vector<Limit>{{.what = "head_dim",
                                       .value = shape.at("head_dim"),
                                       .at_most = 256,
                                       .multiple_of = 16},
                                      {.what = "query heads over KV heads",
                                       .value = shape.at("heads"),
                                       .multiple_of = shape.at("kv_heads")}};
          },
      // The streams of a check have a few hundred keys.
      .work =
          [](const ShapeClass& shape) { return 256 * shape.at("heads") * shape.at("head_dim"); },
      .test_shapes =
          [] {
            return std::vector<ShapeClass>{attention_class(KvType::kBf16, 1, 1, 64),
                                           attention_class(KvType::kF32, 8, 2, 128),
                                           attention_class(KvType::kBf16, 6, 1, 64),
                                           attention_class(KvType::kF32, 12, 2, 16),
                                           attention_class(KvType::kBf16, 8, 1, 48),
                                           attention_class(KvType::kBf16, 4, 1, 256)};
          },
      .twin = "sums the values over the keys in the type"};
}

}  // namespace lockstep::contract
