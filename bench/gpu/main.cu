// gpu_study PART...: the measurements behind docs/gpu-arithmetic.md. `all` runs every part.
// Exit code 0 when every check passed, 1 when one failed, 2 on wrong use, 3 without a GPU.
#include <cstring>

#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"

namespace {

using namespace lockstep::gpu_study;

struct Part {
  const char* name;
  void (*run)();
};

constexpr Part kParts[] = {
    {"ceilings", study_ceilings},   {"instructions", study_instructions},
    {"products", study_products},   {"gated_delta", study_gated_delta},
    {"attention", study_attention}, {"experts", study_experts},
    {"round", study_round},
};

}  // namespace

int main(int count, char** arguments) {
  cudaDeviceProp card;
  if (cudaGetDeviceProperties(&card, 0) != cudaSuccess) {
    print("no CUDA device\n");
    return 3;
  }
  print("card: %s, %d processors, %d MB L2\n", card.name, card.multiProcessorCount,
        card.l2CacheSize >> 20);
  int ran = 0;
  if (count == 2 && std::strcmp(arguments[1], "spread") == 0) {
    study_spread();
    return 0;
  }
  for (int i = 1; i < count; ++i)
    for (const Part& part : kParts)
      if (std::strcmp(arguments[i], "all") == 0 || std::strcmp(arguments[i], part.name) == 0) {
        part.run();
        ++ran;
      }
  if (ran == 0) {
    print("usage: gpu_study all |");
    for (const Part& part : kParts) print(" %s", part.name);
    print("\n");
    return 2;
  }
  print("\n%s\n", all_passed() ? "all checks passed" : "CHECKS FAILED");
  return all_passed() ? 0 : 1;
}
