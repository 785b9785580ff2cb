// Perplexity of a model over a text, and how far one precision is from another.
//
// The ids are read in windows of at most `window` ids, each starting `stride` after the one before.
// Every id but the first is scored once: by the first window that holds it with at least one id
// before it. So ids of the first window have from 1 to window - 1 ids of context, later ones at
// least window - stride.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/cpu_context.h"
#include "model/model.h"
#include "verify/stages/record.h"

namespace lockstep::verify {

struct EvalWindows {
  int64_t window = 512;
  int64_t stride = 256;
};

// Ids [begin, end) are run; those at [first_scored, end) are scored.
struct EvalWindow {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t first_scored = 0;
};

// Errors: fewer than two ids, a window under 2, a stride under 1 or not under the window.
Result<std::vector<EvalWindow>> plan_windows(int64_t ids, const EvalWindows& windows);

struct EvalResult {
  int64_t scored = 0;
  double mean_loss = 0.0;  // -ln p of each id that is scored
  double perplexity() const;
};

struct EvalDifference {
  EvalResult reference;
  double mean_kl = 0.0;   // of the model's distribution from the reference's, in nats
  double worst_kl = 0.0;  // of one row
  int64_t worst_position = 0;
  int64_t agreeing = 0;  // rows whose first choice is the same
};

struct EvalReport {
  EvalResult result;
  std::optional<EvalDifference> against;  // the reference
};

// `reference` may be null; it must be of the same checkpoint. Sums are float64 in the order of the
// ids: the same figures on every machine. Progress counts scored ids. Errors: an id outside the
// vocabulary, no memory, a value that is not finite.
Result<EvalReport> evaluate(const Model& model, const Model* reference, const CpuContext& context,
                            std::span<const int32_t> ids, const EvalWindows& windows,
                            const Progress& progress);

}  // namespace lockstep::verify
