// Holds a model to the promise: the bits of every logit row, state and cache entry follow from the
// tokens alone (docs/exactness.md).
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "verify/exact/cases.h"
#include "verify/exact/prompts.h"
#include "verify/exact/row_hash.h"
#include "verify/report.h"

namespace lockstep::verify {

struct ExactOptions {
  CaseOptions cases;
  // Hears how many of all clauses are decided; false ends the run as cancelled.
  std::function<bool(size_t done, size_t total)> progress;
};

// Rows of the widest round: what a pass is made for.
int64_t exact_rows(const std::vector<Prompt>& prompts, const CaseOptions& options);

// Of the logits of every row of every prompt, each read alone and whole: equal wherever the
// checkpoint, the precision tuple and the prompts are.
Result<BitHash> logits_hash(const Model& model, const std::vector<Prompt>& prompts,
                            const CaseOptions& options);

// Adds a clause per schedule to the report; a failure says where the bits first differ: stream,
// position, layer, stage and column, or the part of the state, with both values.
// Errors: a prompt that gives no finite logits, no memory, a cancelled run.
Status check_exact(const Model& model, const std::vector<Prompt>& prompts,
                   const ExactOptions& options, Report& report);

}  // namespace lockstep::verify
