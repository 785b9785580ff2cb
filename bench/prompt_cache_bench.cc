// What the prompt cache costs a prompt that finds nothing in it, and what one that does saves:
//   prompt_cache_bench MODEL [threads] [tokens...]
// One line per prompt length: seconds of the bare prefill; of looking up, taking snapshots and
// saving them, measured around each call in the same run, and their share; and seconds of the same
// prompt again, which resumes one token before its end. The cache is full, so that saving evicts.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/thread_pool.h"
#include "checkpoint/checkpoint.h"
#include "model/forward_pass.h"
#include "runtime/prompt_cache/prompt_cache.h"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kRows = 128;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Cost {
  double run = 0.0;  // forward passes
  double find = 0.0;
  double save = 0.0;  // snapshots and what the cache does with them
  int64_t saves = 0;
};

// Reads the prompt as an engine does: resumes, stops at every save point, saves.
Cost read_prompt(ForwardPass& pass, PromptCache& cache, const std::vector<int32_t>& ids) {
  Cost cost;
  const auto length = static_cast<int64_t>(ids.size());
  auto start = Clock::now();
  const CacheLookup lookup = cache.find(ids, "");
  const std::vector<SavePoint> points =
      plan_save_points(length, lookup.length, {}, lookup.parted, {.min_tokens = 32});
  cost.find = seconds_since(start);
  SequenceState state =
      lookup.state ? lookup.state->snapshot() : SequenceState(pass.model().state_shape());
  size_t next = 0;
  while (state.position() < length) {
    const int64_t stop = next < points.size() ? points[next].length : length;
    RowBatch batch;
    const int64_t rows = std::min(kRows, stop - state.position());
    batch.segments = {{.sequence = &state, .rows = rows}};
    batch.ids.assign(ids.begin() + state.position(), ids.begin() + state.position() + rows);
    if (state.position() + rows == length) batch.logit_rows = {rows - 1};
    start = Clock::now();
    if (!pass.forward(batch).ok()) std::abort();
    pass.commit(batch);
    cost.run += seconds_since(start);
    if (state.position() != stop || next == points.size()) continue;
    start = Clock::now();
    const std::span<const int32_t> first(ids.data(), static_cast<size_t>(stop));
    if (cache.wants(first, "")) cache.save(first, "", points[next].kind, state.snapshot());
    cost.save += seconds_since(start);
    ++cost.saves;
    ++next;
  }
  return cost;
}

int run(const char* folder, int threads, const std::vector<int64_t>& lengths) {
  auto checkpoint = open_checkpoint(folder, {});
  if (!checkpoint.ok()) return fmt::print("{}\n", checkpoint.error().message), 3;
  auto model = Model::make(std::move(checkpoint).value(), {});
  if (!model.ok()) return fmt::print("{}\n", model.error().message), 3;
  ThreadPool pool(threads);
  ForwardPass pass(model.value(), {.pool = pool, .isa = best_isa()},
                   {.rows = kRows, .logit_rows = 1});
  fmt::print("{:>8} {:>10} {:>12} {:>6} {:>12} {:>8} {:>12}\n", "tokens", "prefill s", "find us",
             "saves", "save us", "share", "again s");
  for (const int64_t length : lengths) {
    const auto state = SequenceState(model.value().state_shape());
    const uint64_t room = 3 * state.shape().recurrent_floats() * sizeof(float) +
                          static_cast<uint64_t>(length / 64 + 1) * 2 * state.shape().page_bytes();
    auto cache = PromptCache::open({.memory_bytes = room}, [&] {
                   return SequenceState(model.value().state_shape());
                 }).value();
    std::vector<int32_t> ids(static_cast<size_t>(length));
    Cost cost;
    for (int32_t round = 0; round < 3; ++round) {  // another prompt each time; the last one counts
      for (size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<int32_t>((i * 31 + size_t(round)) % 9000);
      cost = read_prompt(pass, *cache, ids);
    }
    const double cached = read_prompt(pass, *cache, ids).run;
    fmt::print("{:>8} {:>10.4f} {:>12.1f} {:>6} {:>12.1f} {:>7.3f}% {:>12.4f}\n", length, cost.run,
               cost.find * 1e6, cost.saves, cost.save * 1e6,
               100.0 * (cost.find + cost.save) / cost.run, cached);
  }
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("prompt_cache_bench MODEL [threads] [tokens...]\n");
    return 2;
  }
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  std::vector<int64_t> lengths;
  for (int i = 3; i < argc; ++i) lengths.push_back(std::atoll(argv[i]));
  if (lengths.empty()) lengths = {64, 256, 1024};
  return lockstep::run(argv[1], threads, lengths);
}
