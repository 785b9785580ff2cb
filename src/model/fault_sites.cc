#include "model/fault_sites.h"

#include <algorithm>
#include <bit>

#include "model/stages.h"

namespace lockstep {

bool all_finite(const float* x, int64_t n) {
  uint32_t worst = 0;  // largest magnitude, as bits
  for (int64_t i = 0; i < n; ++i) {
    worst = std::max(worst, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu);
  }
  return worst < 0x7f800000u;
}

FaultSites::FaultSites(std::span<const RowFault> faults, std::span<const int64_t> logit_rows,
                       int64_t token_limit)
    : faults_(faults.begin(), faults.end()),
      found_(faults.size(), false),
      logit_rows_(logit_rows),
      token_limit_(token_limit) {}

void FaultSites::look(std::string_view stage, int64_t layer, std::span<const float> data,
                      int64_t width) {
  const bool logits = stage == stages::kLogits;
  const auto rows = static_cast<int64_t>(data.size()) / width;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = logits ? logit_rows_[static_cast<size_t>(i)] : i;
    const auto fault = std::lower_bound(faults_.begin(), faults_.end(), row,
                                        [](const RowFault& f, int64_t r) { return f.row < r; });
    if (fault == faults_.end() || fault->row != row) continue;
    const auto index = static_cast<size_t>(fault - faults_.begin());
    if (found_[index] || all_finite(data.data() + i * width, logits ? token_limit_ : width)) {
      continue;
    }
    found_[index] = true;
    fault->layer = layer;
    fault->site = stage;
  }
}

}  // namespace lockstep
