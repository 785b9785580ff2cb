// What the prompt cache costs a prompt that finds nothing in it, and what it saves one that does:
//   prompt_cache_bench MODEL [REPEATS [TOKENS...]]
// One line per prompt length, all by one engine: new prompts that ask the full cache, find nothing
// and leave their states there, in turn with new prompts that do without it; then one of the former
// again. Medians; the share is the median of the pairs' own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/isa.h"
#include "bench/workload.h"
#include "checkpoint/checkpoint.h"
#include "device/cpu_info.h"
#include "runtime/stream_engine.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 128;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Bench {
  Bench(const Model& its_model, int64_t its_length)
      : model(its_model),
        length(its_length),
        pool(usable_cpus()),
        pass(model, {.pool = pool, .isa = best_isa()}, {.rows = kRows, .logit_rows = 1}) {
    const int64_t context = length + 8;
    const StateShape& shape = model.state_shape();
    const uint64_t state = shape.recurrent_floats() * sizeof(float) +
                           static_cast<uint64_t>(length / kKvBlock + 2) * shape.page_bytes();
    engine = StreamEngine::make(
                 pass, pool,
                 {.context = context,
                  .pages = EngineOptions::least_pages(context),
                  .cache = PromptCacheOptions{.memory_bytes = 4 * state},  // saving evicts
                  .rules = {.rows = kRows, .round_seconds = 1e9},
                  .drafts = 0})
                 .value();
  }

  Reply read(uint64_t seed, bool use_cache) {
    ReplyStream stream = engine
                             ->submit({.prompt = bench::random_ids(model, length, seed),
                                       .max_tokens = 1,
                                       .sampling = {.temperature = 0.0},
                                       .use_cache = use_cache})
                             .value();
    return std::move(collect_replies(stream).front());
  }

  const Model& model;
  int64_t length;
  ThreadPool pool;
  ForwardPass pass;
  std::unique_ptr<StreamEngine> engine;
};

void measure(const Model& model, int64_t length, int repeats) {
  Bench bench(model, length);
  std::vector<double> without, with, shares;
  uint64_t seed = 1;
  for (int i = -2; i < repeats; ++i) {
    const bool first = i % 2 == 0;  // of the pair
    double seconds[2] = {};
    for (const bool use_cache : {first, !first}) {
      seconds[use_cache] = bench.read(++seed, use_cache).end.timings.prompt_seconds;
    }
    if (i < 0) continue;  // warm-up
    without.push_back(seconds[0]);
    with.push_back(seconds[1]);
    shares.push_back(seconds[1] / seconds[0] - 1.0);
  }
  bench.read(++seed, true);
  const ReplyTimings again = bench.read(seed, true).end.timings;
  fmt::print("{:>8} {:>12.3f} {:>12.3f} {:>8.2f} {:>12.3f} {:>8}\n", length, 1e3 * median(without),
             1e3 * median(with), 1e2 * median(shares), 1e3 * again.prompt_seconds,
             again.prompt_tokens - again.cached_tokens);
}

int run(const char* folder, int repeats, const std::vector<int64_t>& lengths) {
  auto checkpoint = open_checkpoint(folder, {});
  if (!checkpoint.ok()) return fmt::print(stderr, "{}\n", checkpoint.error().message), 3;
  const auto model = Model::make(std::move(checkpoint).value(), {});
  if (!model.ok()) return fmt::print(stderr, "{}\n", model.error().message), 3;
  fmt::print("{:>8} {:>12} {:>12} {:>8} {:>12} {:>8}\n", "tokens", "without ms", "miss ms",
             "share %", "again ms", "its rows");
  for (const int64_t length : lengths) measure(model.value(), length, repeats);
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "prompt_cache_bench MODEL [REPEATS [TOKENS...]]\n");
    return 2;
  }
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 40;
  std::vector<int64_t> lengths;
  for (int i = 3; i < argc; ++i) lengths.push_back(std::atoll(argv[i]));
  if (lengths.empty()) lengths = {64, 256, 1024};
  return lockstep::run(argv[1], repeats, lengths);
}
