// runtime_soak SECONDS [SEED]: the soak for as long as one likes, then 10,000 short requests in
// flat memory. Exit code 0: nothing differed; 1: something did; 2: usage.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/isa.h"
#include "runtime/stream_engine.h"
#include "runtime/testing/soak.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

int64_t resident_bytes() {
  int64_t size = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

bool stays_flat(const Model& model) {
  ThreadPool pool(2);
  ForwardPass pass(model, {.pool = pool, .isa = best_isa()}, {.rows = 32, .logit_rows = 4});
  const auto made = StreamEngine::make(pass, pool,
                                       {.context = 128,
                                        .streams = 4,
                                        .pages = 4 * EngineOptions::least_pages(128),
                                        .rules = {.rows = 32}});
  StreamEngine& engine = *made.value();
  int64_t first = 0;
  for (int i = 0; i <= 10000; ++i) {
    ReplyStream stream = engine
                             .submit({.prompt = {5 + i % 100, 7, 9},
                                      .max_tokens = 1,
                                      .sampling = {.seed = 1},
                                      .replies = 1 + i % 2})
                             .value();
    collect_replies(stream);
    if (i == 1000) first = resident_bytes();
    if (i % 2500 == 0) {
      std::printf("after %d short requests: %.1f MiB resident\n", i,
                  static_cast<double>(resident_bytes()) / (1 << 20));
    }
  }
  return resident_bytes() - first < 2 << 20;
}

int soak(double seconds, uint64_t seed) {
  const Model model = open_micro_model(testing::kSoakIds);
  const testing::SoakReport report = testing::run_soak(model, seed, seconds);
  std::printf("%s\n", report.text().c_str());
  for (const std::string& difference : report.differences) std::printf("%s\n", difference.c_str());
  const bool flat = stays_flat(model);
  std::printf("memory %s\n", flat ? "is flat" : "GROWS");
  return report.differences.empty() && flat ? 0 : 1;
}

}  // namespace
}  // namespace lockstep

int main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: runtime_soak SECONDS [SEED]\n");
    return 2;
  }
  const uint64_t seed = count == 3 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  return lockstep::soak(std::strtod(arguments[1], nullptr), seed);
}
