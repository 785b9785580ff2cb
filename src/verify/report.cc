#include "verify/report.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::verify {

std::string to_text(const Clause& clause) {
  const bool held = clause.verdict == Verdict::kPass;
  std::string text = fmt::format("clause {}: {}", clause.name, held ? "PASS" : "FAIL");
  if (!clause.figure.empty()) text += fmt::format(" ({})", clause.figure);
  if (clause.detail.empty()) return text;
  text += "\n  ";
  for (const char c : clause.detail) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

Report::Report(std::string check, Listener listener)
    : check_(std::move(check)), listener_(std::move(listener)) {}

void Report::add(Clause clause) {
  if (clause.verdict == Verdict::kFail) ++failures_;
  clauses_.push_back(std::move(clause));
  if (listener_) listener_(clauses_.back());
}

void Report::add(std::string name, bool held, std::string figure, std::string detail) {
  add({.name = std::move(name),
       .verdict = held ? Verdict::kPass : Verdict::kFail,
       .figure = std::move(figure),
       .detail = held ? std::string() : std::move(detail)});
}

std::string Report::summary() const {
  const size_t count = clauses_.size();
  if (count == 0) return fmt::format("verify {}: RED, nothing was checked", check_);
  if (green()) {
    return fmt::format("verify {}: GREEN, {} clause{}", check_, count, count == 1 ? "" : "s");
  }
  return fmt::format("verify {}: RED, {} of {} clauses failed", check_, failures_, count);
}

json::object Report::to_json() const {
  json::array clauses;
  for (const Clause& clause : clauses_) {
    clauses.push_back(json::object{{"name", clause.name},
                                   {"pass", clause.verdict == Verdict::kPass},
                                   {"figure", clause.figure},
                                   {"detail", clause.detail}});
  }
  return {{"check", check_}, {"green", green()}, {"clauses", std::move(clauses)}};
}

}  // namespace lockstep::verify
