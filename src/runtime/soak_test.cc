#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "runtime/stream_engine.h"
#include "runtime/testing/soak.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

// Twenty seconds of it; scripts/soak.sh runs for as long as one likes.
TEST(Soak, EveryReplyIsWhatItIsAlone) {
  const Model model = open_micro_model(testing::kSoakIds);
  const testing::SoakReport report = testing::run_soak(model, 1, 20.0);
  std::printf("%s\n", report.text().c_str());
  for (const std::string& difference : report.differences) ADD_FAILURE() << difference;
  EXPECT_TRUE(report.saw_everything());
}

int64_t resident_bytes() {
  int64_t size = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// A short form of what scripts/soak.sh does 10,000 times.
TEST(Soak, MemoryStaysFlatOverShortRequests) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer holds freed memory back on purpose";
#endif
  const Model model = open_micro_model(testing::kSoakIds);
  ThreadPool pool(2);
  ForwardPass pass(model, {.pool = pool, .isa = best_isa()}, {.rows = 32, .logit_rows = 4});
  const auto made = StreamEngine::make(pass, pool,
                                       {.context = 128,
                                        .streams = 4,
                                        .pages = 4 * EngineOptions::least_pages(128),
                                        .rules = {.rows = 32}});
  StreamEngine& engine = *made.value();
  const auto run = [&](int requests) {
    for (int i = 0; i < requests; ++i) {
      Request request = {.prompt = {5 + i % 100, 7, 9}, .max_tokens = 1, .sampling = {.seed = 1}};
      request.replies = 1 + i % 2;
      ReplyStream stream = engine.submit(std::move(request)).value();
      ASSERT_TRUE(collect_replies(stream)[0].end.status.ok());
    }
  };
  run(100);
  const int64_t before = resident_bytes();
  run(400);
  EXPECT_LT(resident_bytes() - before, 2 << 20);
}

}  // namespace
}  // namespace lockstep
