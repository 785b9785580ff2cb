#include "kernels/moe_route/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void route(const MoeRouteArgs& args, const Real* all_logits, int32_t* ids, double* weights) {
  std::vector<int32_t> order(static_cast<size_t>(args.experts));
  for (int64_t row = 0; row < args.rows; ++row) {
    const Real* logits = all_logits + row * args.experts;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return std::isnan(logits[b]) ? !std::isnan(logits[a]) : logits[a] > logits[b];
    });
    double all = 0.0;  // NaN if any logit is
    for (int64_t e = 0; e < args.experts; ++e) {
      all += real_math::exp(static_cast<double>(logits[e]) - logits[order[0]]);
    }
    double chosen = 0.0;
    for (int64_t j = 0; j < args.chosen; ++j) {
      const int32_t id = order[static_cast<size_t>(j)];
      ids[row * args.chosen + j] = id;
      weights[row * args.chosen + j] =
          real_math::exp(static_cast<double>(logits[id]) - logits[order[0]]) / all;
      chosen += weights[row * args.chosen + j];
    }
    for (int64_t j = 0; j < args.chosen; ++j) weights[row * args.chosen + j] /= chosen;
  }
}

}  // namespace

void reference_moe_route(const MoeRouteArgs& args, int32_t* ids, double* weights) {
  route(args, args.logits, ids, weights);
}

void reference_moe_route(const MoeRouteArgs& args, const double* logits, int32_t* ids,
                         double* weights) {
  route(args, logits, ids, weights);
}

}  // namespace lockstep
