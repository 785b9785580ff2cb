// What serving costs beside the model: rounds_bench MODEL_FOLDER [STREAMS [TOKENS]]
//
// In one run, in turn: a bare loop over the forward pass with as many sequences, and the engine
// with as many replies. Prints the ratio of their time per row, and what of a round is neither the
// model nor a sampler.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/isa.h"
#include "bench/workload.h"
#include "checkpoint/checkpoint.h"
#include "device/cpu_info.h"
#include "runtime/stream_engine.h"

namespace lockstep {
namespace {

constexpr int64_t kDepth = 32;
constexpr int kRepeats = 5;

struct Timed {
  double seconds_per_row = 0.0;
  double bookkeeping = 0.0;  // share of the rounds' time
};

// Replies of `tokens` tokens; timed once every stream has had its first.
Timed time_engine(StreamEngine& engine, const Model& model, int64_t streams, int64_t tokens) {
  std::vector<ReplyStream> replies;
  for (int64_t i = 0; i < streams; ++i) {
    replies.push_back(
        engine
            .submit({.prompt = bench::random_ids(model, kDepth, static_cast<uint64_t>(i)),
                     .max_tokens = tokens + 1,
                     .sampling = {.temperature = 0.0}})
            .value());
  }
  for (ReplyStream& reply : replies) reply.next();
  const EngineFigures before = engine.figures();
  const auto start = std::chrono::steady_clock::now();
  for (ReplyStream& reply : replies) collect_replies(reply);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const EngineFigures after = engine.figures();
  const double rounds = after.round_seconds - before.round_seconds;
  const double work =
      after.pass_seconds + after.draw_seconds - before.pass_seconds - before.draw_seconds;
  return {seconds.count() / static_cast<double>(after.rows - before.rows), 1.0 - work / rounds};
}

int run(const char* folder, int64_t streams, int64_t tokens) {
  Result<Checkpoint> checkpoint = open_checkpoint(folder, {});
  if (!checkpoint.ok()) {
    std::fprintf(stderr, "%s\n", checkpoint.error().message.c_str());
    return 1;
  }
  const Model model = Model::make(std::move(checkpoint).value(), {}).value();
  ThreadPool pool(usable_cpus());
  const CpuContext context = {.pool = pool, .isa = best_isa()};
  const PassLimits limits = {.rows = std::max<int64_t>(128, streams), .logit_rows = streams};
  ForwardPass bare(model, context, limits);
  ForwardPass pass(model, context, limits);
  const int64_t positions = kDepth + tokens + 2;
  const auto made = StreamEngine::make(pass, pool,
                                       {.context = positions,
                                        .streams = streams,
                                        .pages = streams * EngineOptions::least_pages(positions),
                                        .rules = {.rows = limits.rows},
                                        .drafts = 0});
  StreamEngine& engine = *made.value();
  std::vector<double> ratios;
  std::vector<double> shares;
  for (int repeat = 0; repeat <= kRepeats; ++repeat) {
    bench::DecodeLoop loop = bench::DecodeLoop::make(bare, streams, kDepth).value();
    const double alone =
        loop.time_rounds(bare, tokens).value() / static_cast<double>(tokens * streams);
    const Timed served = time_engine(engine, model, streams, tokens);
    if (repeat == 0) continue;  // warm-up
    ratios.push_back(served.seconds_per_row / alone);
    shares.push_back(served.bookkeeping);
    std::printf("bare %.3f ms/row, engine %.3f ms/row, ratio %.3f, bookkeeping %.3f %%\n",
                1e3 * alone, 1e3 * served.seconds_per_row, ratios.back(), 1e2 * shares.back());
  }
  std::sort(ratios.begin(), ratios.end());
  std::sort(shares.begin(), shares.end());
  std::printf("%lld streams: median ratio %.3f (%.3f to %.3f), bookkeeping %.3f %% of a round\n",
              static_cast<long long>(streams), ratios[kRepeats / 2], ratios.front(), ratios.back(),
              1e2 * shares[kRepeats / 2]);
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: rounds_bench MODEL_FOLDER [STREAMS [TOKENS]]\n");
    return 2;
  }
  const int64_t streams = count > 2 ? std::atoll(arguments[2]) : 16;
  const int64_t tokens = count > 3 ? std::atoll(arguments[3]) : 32;
  return lockstep::run(arguments[1], streams, tokens);
}
