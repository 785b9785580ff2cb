// Whole replies, tokens drawn: the same however the prompt was read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "verify/exact/cases.h"
#include "verify/exact/prompts.h"
#include "verify/report.h"

namespace lockstep::verify {

// What is tried beyond the tokens that were drawn.
enum class Drafts : uint8_t {
  kNone,
  kReal,      // what the engine's own drafters say
  kRight,     // the tokens that come, as they are known from before
  kWrong,     // others
  kMixed,     // right for a while, then others
  kLastWrong  // right but for the last of each window
};

struct ReplyCase {
  std::string name;
  int64_t chunk = 0;       // most rows of a round
  bool continued = false;  // the first half of the prompt was read by a request before
  int threads = 1;
  Drafts drafts = Drafts::kNone;
  int64_t depth = 0;  // of each window
};

std::vector<ReplyCase> reply_cases(const CaseOptions& options);

class ReplyChecker {
 public:
  ReplyChecker(const Model& model, const std::vector<Prompt>& prompts, const CaseOptions& options)
      : model_(model), prompts_(prompts), options_(options) {}

  // Draws a greedy and a sampled reply to every prompt and compares the tokens and their
  // probabilities with those of a prompt that is read fresh and whole.
  Result<Clause> decide(const ReplyCase& each);

 private:
  const Model& model_;
  const std::vector<Prompt>& prompts_;
  const CaseOptions& options_;
};

}  // namespace lockstep::verify
