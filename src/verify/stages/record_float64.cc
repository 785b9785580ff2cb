#include <vector>

#include "verify/float64/float64_model.h"
#include "verify/stages/record.h"

namespace lockstep::verify {
namespace {

using Rows = std::vector<double>;

Rows widened(std::span<const float> values) { return Rows(values.begin(), values.end()); }

// Keeps the rows of the record's positions.
class Float64Recorder {
 public:
  Float64Recorder(const Model& model, const EngineRecord& engine, Feed feed)
      : layers_(static_cast<int64_t>(model.config().layers.size())) {
    dump_.identity = engine.dump.identity;
    dump_.identity.source = feed == Feed::kOwn ? "float64-own" : "float64-chained";
    dump_.identity.precision = "float64, kept as float32";
    dump_.ids = engine.dump.ids;
    dump_.positions = engine.dump.positions;
  }

  void keep(std::string_view stage, int64_t layer, std::span<const double> data, int64_t width) {
    const std::string name = stage_key(stage, layer, layers_);
    StageRows& rows = dump_.at(name, width);
    if (stage == stages::kLogits) {
      rows.data.assign(data.begin(), data.end());  // only these rows were computed
      return;
    }
    for (int64_t i = 0; i < dump_.rows_of(name); ++i) {
      const auto begin = data.begin() + dump_.positions[static_cast<size_t>(i)] * width;
      rows.data.insert(rows.data.end(), begin, begin + width);
    }
  }

  // Rows of the positions that are kept.
  Rows chosen(std::span<const double> rows, int64_t width) const {
    Rows out;
    for (const int32_t position : dump_.positions) {
      const auto begin = rows.begin() + position * width;
      out.insert(out.end(), begin, begin + width);
    }
    return out;
  }

  StageDump take() { return std::move(dump_); }

 private:
  int64_t layers_;
  StageDump dump_;
};

}  // namespace

StageDump record_float64(const Model& model, const EngineRecord& engine, Feed feed,
                         const Progress& progress) {
  const std::span<const int32_t> ids = engine.dump.ids;
  const bool own = feed == Feed::kOwn;
  const int64_t hidden = model.config().hidden_size;
  const size_t layers = model.config().layers.size();
  Float64Recorder recorder(model, engine, feed);
  Float64Model reference(model);
  reference.set_tap([&](std::string_view stage, int64_t layer, std::span<const double> data,
                        int64_t width) { recorder.keep(stage, layer, data, width); });
  const auto report = [&](size_t done) {
    if (progress) progress(done, layers + 2);
  };
  Rows residual = reference.embed(ids);
  for (size_t i = 0; i < layers; ++i) {
    if (own) residual = widened(engine.residual[i]);
    residual = reference.run_layer(static_cast<int64_t>(i), std::move(residual));
    report(i + 1);
  }
  if (own) residual = widened(engine.residual[layers]);
  Rows normed = reference.final_norm(residual);
  if (own) normed = widened(engine.final_norm);
  reference.logits(recorder.chosen(normed, hidden));
  report(layers + 1);
  if (model.weights().mtp && ids.size() > 1) {
    normed.resize((ids.size() - 1) * static_cast<size_t>(hidden));
    reference.draft(normed, ids.subspan(1));
  }
  report(layers + 2);
  return recorder.take();
}

}  // namespace lockstep::verify
