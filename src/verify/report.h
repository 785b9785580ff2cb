// What every check prints: a line per clause as it is decided, and one line that sums up.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"

namespace lockstep::verify {

enum class Verdict { kPass, kFail };

// One thing that was held, e.g. {"chunks of 7", kPass, "270 rows, 0 bits differ", ""}.
struct Clause {
  std::string name;
  Verdict verdict = Verdict::kFail;
  std::string figure;  // what was measured; empty if the verdict says all
  std::string detail;  // of a failure: where, both values; may have several lines
};

// "clause NAME: PASS (figure)"; a failure's detail follows, indented.
std::string to_text(const Clause& clause);

// The clauses of one run in their order. A run that held nothing is not green.
class Report {
 public:
  using Listener = std::function<void(const Clause&)>;

  // `check` is the command's name, "exact"; `listener` hears of each clause at once and may be
  // empty.
  explicit Report(std::string check, Listener listener = {});

  void add(Clause clause);
  void add(std::string name, bool held, std::string figure = {}, std::string detail = {});

  const std::vector<Clause>& clauses() const { return clauses_; }
  size_t failures() const { return failures_; }
  bool green() const { return failures_ == 0 && !clauses_.empty(); }
  // "verify exact: GREEN, 41 clauses" or "verify exact: RED, 2 of 41 clauses failed".
  std::string summary() const;
  // {"check", "green", "clauses": [{"name", "pass", "figure", "detail"}]}
  json::object to_json() const;

 private:
  std::string check_;
  Listener listener_;
  std::vector<Clause> clauses_;
  size_t failures_ = 0;
};

}  // namespace lockstep::verify
