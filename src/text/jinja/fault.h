// How parsing and rendering stop. Faults travel as exceptions inside this folder only: Template
// turns each into an Error with the template's name and line.
#pragma once

#include <string>
#include <utility>

namespace lockstep::jinja {

enum class FaultKind {
  kSyntax,       // not a template
  kUnsupported,  // a template, but with a construct that this engine does not have
  kRaised,       // the template called raise_exception
  kEvaluation,   // an operation that Python would refuse, too
  kLimit,        // more steps, depth, output or memory than allowed
};

struct Fault {
  FaultKind kind = FaultKind::kEvaluation;
  std::string message;
  int line = 0;  // 0: the line being executed
};

[[noreturn]] inline void fail(std::string message, FaultKind kind = FaultKind::kEvaluation) {
  throw Fault{kind, std::move(message), 0};
}

[[noreturn]] inline void fail_at(int line, std::string message,
                                 FaultKind kind = FaultKind::kSyntax) {
  throw Fault{kind, std::move(message), line};
}

}  // namespace lockstep::jinja
