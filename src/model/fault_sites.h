// Where in a round a value first was not finite. A round is scanned once a layer, which costs
// little; only one that has a fault is run again, with every stage looked at.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/row_batch.h"

namespace lockstep {

bool all_finite(const float* x, int64_t n);

class FaultSites {
 public:
  // `faults`: as the round reported them. `logit_rows`: of the batch. `token_limit`: ids from it on
  // are -infinity in every logit row.
  FaultSites(std::span<const RowFault> faults, std::span<const int64_t> logit_rows,
             int64_t token_limit);

  // A stage of the same round, run again (stages.h).
  void look(std::string_view stage, int64_t layer, std::span<const float> data, int64_t width);

  // The faults, each with the first stage that was not finite in its row.
  std::vector<RowFault> take() { return std::move(faults_); }

 private:
  std::vector<RowFault> faults_;
  std::vector<bool> found_;  // per fault
  std::span<const int64_t> logit_rows_;
  int64_t token_limit_;
};

}  // namespace lockstep
