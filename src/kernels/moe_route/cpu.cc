#include "kernels/moe_route/cpu.h"

#include <limits>

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// True if logit x of a later expert goes before logit y of an earlier one.
bool ranks_above(float x, float y) { return x > y || (x == x && y != y); }

// Fills ids with the k best experts, and weights with their logits. Experts come by ascending id,
// so an equal one stays behind.
void choose(const float* logits, int64_t experts, int64_t chosen, int32_t* ids, float* weights) {
  int64_t held = 0;
  for (int64_t expert = 0; expert < experts; ++expert) {
    const float logit = logits[expert];
    if (held == chosen && !ranks_above(logit, weights[held - 1])) continue;
    int64_t slot = held < chosen ? held++ : held - 1;
    for (; slot > 0 && ranks_above(logit, weights[slot - 1]); --slot) {
      ids[slot] = ids[slot - 1];
      weights[slot] = weights[slot - 1];
    }
    ids[slot] = static_cast<int32_t>(expert);
    weights[slot] = logit;
  }
}

bool has_nan(const float* logits, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (logits[i] != logits[i]) return true;
  }
  return false;
}

}  // namespace

void moe_route_rows(const MoeRouteArgs& args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* logits = args.logits + row * args.experts;
    float* weights = args.weights + row * args.chosen;
    choose(logits, args.experts, args.chosen, args.ids + row * args.chosen, weights);
    const bool spoiled = has_nan(logits, args.experts);
    const F32x16 best =
        F32x16::splat(spoiled ? std::numeric_limits<float>::quiet_NaN() : weights[0]);
    for (int64_t j = 0; j < args.chosen; j += kLanes) {
      const int64_t n = args.chosen - j;
      store_up_to(exp(load_up_to(weights + j, n) - best), weights + j, n);
    }
    float sum = 0.0f;
    for (int64_t j = 0; j < args.chosen; ++j) sum += weights[j];
    for (int64_t j = 0; j < args.chosen; ++j) weights[j] /= sum;
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
