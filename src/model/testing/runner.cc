#include "model/testing/runner.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/check.h"

namespace lockstep::testing {
namespace {

constexpr PassLimits kLimits = {.rows = 300, .logit_rows = 300};

RowBatch whole_batch(SequenceState& sequence, std::span<const int32_t> ids) {
  RowBatch batch;
  batch.segments = {{.sequence = &sequence, .rows = static_cast<int64_t>(ids.size())}};
  batch.ids.assign(ids.begin(), ids.end());
  batch.logit_rows.resize(ids.size());
  std::iota(batch.logit_rows.begin(), batch.logit_rows.end(), 0);
  return batch;
}

void append(std::vector<float>& to, std::span<const float> values) {
  to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

std::filesystem::path embedded_folder(const std::string& name) {
  return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "models" / name;
}

Model load_embedded(const std::string& name, Precision precision) {
  Result<Checkpoint> checkpoint = open_checkpoint(embedded_folder(name), {});
  LOCKSTEP_CHECK(checkpoint.ok(), checkpoint.error().message);
  Result<Model> model = Model::make(std::move(checkpoint).value(), {.precision = precision});
  LOCKSTEP_CHECK(model.ok(), model.error().message);
  return std::move(model).value();
}

Runner::Runner(const Model& model, int threads, Isa isa)
    : pool_(threads), pass_(model, CpuContext{.pool = pool_, .isa = isa}, kLimits) {}

std::vector<float> Runner::read(SequenceState& sequence, std::span<const int32_t> ids,
                                int64_t chunk) {
  std::vector<float> logits;
  for (size_t begin = 0; begin < ids.size(); begin += static_cast<size_t>(chunk)) {
    const size_t rows = std::min(ids.size() - begin, static_cast<size_t>(chunk));
    const RowBatch batch = whole_batch(sequence, ids.subspan(begin, rows));
    Result<RoundOutput> output = pass_.forward(batch);
    LOCKSTEP_CHECK(output.ok() && output.value().faults.empty(), "a failed round");
    append(logits, output.value().logits);
    pass_.commit(batch);
  }
  return logits;
}

Runner::Stages Runner::read_stages(std::span<const int32_t> ids) {
  Stages result;
  pass_.set_tap([&](std::string_view stage, int64_t layer, std::span<const float> data, int64_t) {
    const bool kept =
        stage == stages::kEmbed || stage == stages::kLayer || stage == stages::kFinalNorm;
    if (kept) append(result.rows[layer + 1], data);
  });
  SequenceState sequence = new_sequence();
  const RowBatch batch = whole_batch(sequence, ids);
  Result<RoundOutput> output = pass_.forward(batch);
  pass_.set_tap(nullptr);
  LOCKSTEP_CHECK(output.ok() && output.value().faults.empty(), "a failed round");
  append(result.logits, output.value().logits);
  append(result.hidden, output.value().hidden);
  append(result.hidden_pre, output.value().hidden_pre);
  return result;
}

std::vector<int32_t> Runner::greedy(std::span<const int32_t> ids, int count) {
  const auto vocab = static_cast<size_t>(model().config().vocab_size);
  SequenceState sequence = new_sequence();
  std::vector<float> logits = read(sequence, ids, 256);
  std::vector<int32_t> reply;
  while (true) {
    reply.push_back(argmax(std::span<const float>(logits).last(vocab)));
    if (static_cast<int>(reply.size()) == count) return reply;
    logits = read(sequence, {&reply.back(), 1}, 1);
  }
}

int32_t argmax(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::vector<std::byte> fingerprint(const SequenceState& sequence) {
  const StateShape& shape = sequence.shape();
  std::vector<std::byte> bytes;
  const auto add = [&](const void* data, size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  for (int64_t layer = 0; layer < shape.delta_layers; ++layer) {
    add(sequence.conv_in(layer), static_cast<size_t>(shape.conv_floats) * sizeof(float));
    add(sequence.delta_in(layer), static_cast<size_t>(shape.delta_floats) * sizeof(float));
  }
  const size_t row = static_cast<size_t>(shape.kv.head_dim) * shape.kv.element_bytes();
  for (int64_t layer = 0; layer < shape.attention_layers; ++layer) {
    for (int64_t p = 0; p < sequence.position(); ++p) {
      const std::byte* block = sequence.blocks(layer)[p / kKvBlock];
      for (int64_t head = 0; head < 2 * shape.kv.kv_heads;
           ++head) {  // keys of all heads, then values
        add(block + static_cast<size_t>(head * kKvBlock + p % kKvBlock) * row, row);
      }
    }
  }
  return bytes;
}

}  // namespace lockstep::testing
