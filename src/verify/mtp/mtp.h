// Holds the draft head to a reference dump, for both things its hidden input may be.
//
// Row p of a draft joins the trunk's hidden row p, after the final norm ("post") or before it
// ("pre"), with the embedding of token p + 1, and guesses token p + 2. A draft is accepted where
// its first choice is the trunk's own first choice at position p + 1.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "kernels/cpu_context.h"
#include "model/model.h"
#include "verify/report.h"
#include "verify/stages/compare.h"
#include "verify/stages/record.h"

namespace lockstep::verify {

// Stages of a reference dump: F32 [rows, V], rows as dump.h says.
inline constexpr std::string_view kMtpPost = "mtp_post.logits";
inline constexpr std::string_view kMtpPre = "mtp_pre.logits";

struct Acceptance {
  int64_t drafts = 0;
  int64_t post = 0;  // accepted
  int64_t pre = 0;
};

struct DraftRecord {
  StageDump dump;         // both conventions at the positions that were asked for
  Acceptance acceptance;  // over the whole sequence
};

// Both conventions over `ids`, at least two. Errors: the model has no draft head; as
// record_engine().
Result<DraftRecord> record_drafts(const Model& model, const CpuContext& context,
                                  std::span<const int32_t> ids, std::span<const int32_t> positions,
                                  const Progress& progress);

struct MtpResult {
  Comparison comparison;
  Acceptance acceptance;
};

// Errors: a reference of other weights or vocabulary, without draft logits, of a single id.
Result<MtpResult> compare_mtp(const Model& model, const CpuContext& context,
                              const StageDump& reference, const Progress& progress);

// Per convention: logits within the goal of float32 arithmetic, choices equal or near ties.
void judge_mtp(const MtpResult& result, Report& report);

}  // namespace lockstep::verify
