#include "bench/workload.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace lockstep::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status run_round(ForwardPass& pass, const RowBatch& batch) {
  LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output, pass.forward(batch));
  if (!output.faults.empty()) {
    return Error{ErrorCode::kNumeric,
                 "the model gave a value that is not finite: its speed would mean nothing"};
  }
  pass.commit(batch);
  return {};
}

}  // namespace

std::vector<int32_t> random_ids(const Model& model, int64_t count, uint64_t seed) {
  const int64_t vocab = model.config().vocab_size;
  const auto known =
      static_cast<uint64_t>(model.token_limit() > 0 ? std::min(vocab, model.token_limit()) : vocab);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  uint64_t state = seed;
  for (int32_t& id : ids) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    id = static_cast<int32_t>((state >> 33) % known);
  }
  return ids;
}

Result<SequenceState> read_prompt(ForwardPass& pass, std::span<const int32_t> ids) {
  SequenceState sequence(pass.model().state_shape());
  for (size_t done = 0; done < ids.size();) {
    const size_t rows = std::min(ids.size() - done, static_cast<size_t>(pass.limits().rows));
    RowBatch batch;
    batch.segments = {{.sequence = &sequence, .rows = static_cast<int64_t>(rows)}};
    batch.ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(done),
                     ids.begin() + static_cast<std::ptrdiff_t>(done + rows));
    done += rows;
    if (done == ids.size()) batch.logit_rows = {static_cast<int64_t>(rows) - 1};
    LOCKSTEP_RETURN_IF_ERROR(run_round(pass, batch));
  }
  return sequence;
}

Result<double> time_prefill(ForwardPass& pass, int64_t length) {
  const std::vector<int32_t> ids = random_ids(pass.model(), length, 1);
  const auto start = Clock::now();
  LOCKSTEP_RETURN_IF_ERROR(read_prompt(pass, ids));
  return seconds_since(start);
}

Result<DecodeLoop> DecodeLoop::make(ForwardPass& pass, int64_t streams, int64_t depth) {
  DecodeLoop loop;
  for (int64_t stream = 0; stream < streams; ++stream) {
    const auto ids =
        random_ids(pass.model(), std::max<int64_t>(1, depth), static_cast<uint64_t>(stream) + 2);
    LOCKSTEP_ASSIGN_OR_RETURN(SequenceState sequence, read_prompt(pass, ids));
    loop.sequences_.push_back(std::move(sequence));
  }
  return loop;
}

Result<double> DecodeLoop::time_rounds(ForwardPass& pass, int64_t rounds) {
  const auto streams = static_cast<int64_t>(sequences_.size());
  const auto seed = static_cast<uint64_t>(sequences_.front().position());
  const std::vector<int32_t> ids = random_ids(pass.model(), rounds * streams, seed);
  RowBatch batch;
  for (int64_t stream = 0; stream < streams; ++stream) {
    batch.segments.push_back({.sequence = &sequences_[static_cast<size_t>(stream)], .rows = 1});
    batch.logit_rows.push_back(stream);
  }
  const auto start = Clock::now();
  for (int64_t round = 0; round < rounds; ++round) {
    const auto first = ids.begin() + round * streams;
    batch.ids.assign(first, first + streams);
    LOCKSTEP_RETURN_IF_ERROR(run_round(pass, batch));
  }
  return seconds_since(start);
}

}  // namespace lockstep::bench
