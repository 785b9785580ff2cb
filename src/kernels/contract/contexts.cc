#include "kernels/contract/contexts.h"

#include <algorithm>

namespace lockstep::contract {
namespace {

constexpr int kThreadCounts[] = {1, 2, 3, 7};

ThreadPool& pool_of(int threads) {
  static ThreadPool one(1), two(2), three(3), seven(7);
  return threads == 1 ? one : threads == 2 ? two : threads == 3 ? three : seven;
}

}  // namespace

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (isa_available(isa)) isas.push_back(isa);
  }
  return isas;
}

void for_each_context(const std::function<void(const CpuContext&, const std::string&)>& run) {
  for (Isa isa : available_isas()) {
    for (int threads : kThreadCounts) {
      run(context_of(isa, threads),
          std::string(to_string(isa)) + ", " + std::to_string(threads) + " threads");
    }
  }
}

std::vector<Isa> built_isas() {
#if defined(__x86_64__)
  return {Isa::kScalar, Isa::kAvx2, Isa::kAvx512};
#elif defined(__aarch64__)
  return {Isa::kScalar, Isa::kNeon};
#else
  return {Isa::kScalar};
#endif
}

const char* required_features(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "nothing";
    case Isa::kAvx2:
      return "avx2, fma, f16c";
    case Isa::kAvx512:
      return "avx2, fma, f16c, avx512f, avx512bw, avx512dq, avx512vl";
    case Isa::kNeon:
      return "neon, dotprod";
  }
  return "?";
}

CpuContext context_of(Isa isa, int threads) { return {.pool = pool_of(threads), .isa = isa}; }

const CpuContext& default_context() {
  static const CpuContext context = context_of(best_isa(), 2);
  return context;
}

std::string compare_contexts(const Case& test,
                             const std::function<std::vector<float>(const CpuContext&)>& run) {
  std::vector<float> first;
  bool have_first = false;
  std::string wrong;
  for_each_context([&](const CpuContext& context, const std::string& name) {
    if (!wrong.empty()) return;
    const std::vector<float> got = run(context);
    if (!have_first) first = got;
    have_first = true;
    const std::string difference = compare_bits(test, got, first);
    if (!difference.empty()) wrong = name + " differs from scalar, 1 thread: " + difference;
  });
  return wrong;
}

std::string compare_row_splits(
    const Case& test,
    const std::function<std::vector<float>(const CpuContext&, int64_t begin, int64_t end)>& run) {
  const int64_t rows = test.shape.front();
  const auto whole = [&](const CpuContext& context) { return run(context, 0, rows); };
  if (std::string wrong = compare_contexts(test, whole); !wrong.empty()) return wrong;
  const std::vector<float> want = whole(default_context());
  for (int64_t step : {1, 2, 3, 7}) {
    std::vector<float> got;
    for (int64_t begin = 0; begin < rows; begin += step) {
      const std::vector<float> part = run(default_context(), begin, std::min(rows, begin + step));
      got.insert(got.end(), part.begin(), part.end());
    }
    const std::string difference = compare_bits(test, got, want);
    if (!difference.empty()) return "in groups of " + std::to_string(step) + ": " + difference;
  }
  return "";
}

}  // namespace lockstep::contract
