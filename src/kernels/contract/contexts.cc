#include "kernels/contract/contexts.h"

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
      run(CpuContext{pool_of(threads), isa},
          std::string(to_string(isa)) + ", " + std::to_string(threads) + " threads");
    }
  }
}

const CpuContext& default_context() {
  static const CpuContext context{pool_of(2), best_isa()};
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

}  // namespace lockstep::contract
